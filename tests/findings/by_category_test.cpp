#include "src/findings/by_category.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// Two arms, with one job and one answer for each example. The method takes half the time on
/// `math` and the same time on `prose`, and is right on `prose` only.
struct TwoArms {
  Comparison comparison;
  Measurements measured{Figures(std::vector<RunRow>(2)), {}};

  TwoArms() {
    comparison.confidence = 0.95;
    comparison.margin = 0.05;
    comparison.scores = {"accuracy"};
    comparison.arms.resize(2);
    comparison.arms[0].is_baseline = true;
    comparison.arms[1].baseline = 0;
    for (size_t a = 0; a < 2; ++a) {
      run(a).summary.run.batch_size = 1;
      measured.scores.emplace_back(measured.figures.names);
    }
  }

  RunFigures& run(size_t arm) { return measured.figures.runs[arm]; }

  /// Adds an example, and both arms' answers to it; returns the example's number.
  std::int32_t add(const std::string& category) {
    ExampleNames& names = *measured.figures.names;
    const auto example = static_cast<std::int32_t>(measured.figures.examples.size());
    names.keys.push_back(std::to_string(example));
    const std::int32_t cluster = names.clusters.of(names.keys.back());
    const std::int32_t number = names.categories.of(category);
    measured.figures.examples.push_back({example, cluster, number});
    for (size_t a = 0; a < 2; ++a) {
      const bool fast = a == 1 && category == "math";
      const auto place = static_cast<std::int32_t>(run(a).jobs.size());
      JobFigures job;
      job.id = job.block = place + 1;
      job.chosen = 10;
      job.forwards = fast ? 5 : 10;
      // Times differ between examples, so that an interval can be computed.
      job.total_ns = (fast ? 500 : 1000) * (1000 + 7 * (place + static_cast<std::int32_t>(a)));
      run(a).jobs.push_back(job);
      run(a).measured.blocks.push_back({.id = job.block,
                                        .key = place,
                                        .process = 0,
                                        .repeat = 0,
                                        .position = place,
                                        .examples = 1,
                                        .time = {job.total_ns, {}}});
      AnswerFigures answer;
      answer.id = place + 1;
      answer.example = example;
      answer.job = place;
      run(a).answers.push_back(answer);
      ScoreTable& scores = measured.scores[a];
      const std::int32_t scored = scores.add({example, cluster, number, 0, 1});
      ScoreTable::Column& column = scores.column_of("accuracy");
      column.rows.push_back({scored, names.fields.of("answer"), column.place_of("{}"), 1,
                             a == 0 || category == "prose" ? 1.0 : 0.0});
    }
    return example;
  }

  std::vector<CategoryFinding> found() const { return by_category(comparison, measured); }
};

}  // namespace

TEST_CASE("Each category has its own speedup, tokens per pass and scores", "[categories]") {
  TwoArms arms;
  for (int i = 0; i < 8; ++i) {
    arms.add("prose");
    arms.add("math");
  }
  const auto found = arms.found();
  REQUIRE(found.size() == 4);
  CHECK(found[0].category == "math");
  CHECK(found[0].arm == 0);
  CHECK(!found[0].speedup);
  const CategoryFinding &math = found[1], &prose = found[3];
  CHECK(math.examples == 8);
  CHECK(math.timed == 8);
  CHECK(math.speedup->estimate == Approx(2).epsilon(0.02));
  CHECK(math.speedup->low > 1.9);
  CHECK(math.tokens_per_forward.estimate == 2);
  CHECK(math.scores.at("accuracy").value.estimate == 0);
  CHECK(math.scores.at("accuracy").difference->estimate == -1);
  CHECK(prose.category == "prose");
  CHECK(prose.speedup->estimate == Approx(1).epsilon(0.02));
  CHECK(prose.tokens_per_forward.estimate == 1);
  CHECK(prose.scores.at("accuracy").difference->estimate == 0);
}

TEST_CASE("Few examples of a category have no interval", "[categories]") {
  TwoArms arms;
  for (int i = 0; i < 5; ++i) arms.add("math");
  const CategoryFinding math = arms.found()[1];
  CHECK(math.speedup->estimate == Approx(2).epsilon(0.02));
  CHECK(std::isnan(math.speedup->low));
}

TEST_CASE("Jobs that ran together have no times of their own", "[categories]") {
  TwoArms arms;
  for (int i = 0; i < 8; ++i) arms.add("math");
  arms.run(1).summary.run.batch_size = 4;
  const CategoryFinding math = arms.found()[1];
  CHECK(!math.speedup);
  CHECK(std::isnan(math.tokens_per_second));
  CHECK(math.tokens_per_forward.estimate == 2);
}

TEST_CASE("Times of another process are not compared", "[categories]") {
  TwoArms arms;
  for (int i = 0; i < 8; ++i) arms.add("math");
  arms.run(1).measured.blocks[0].process = 1;
  arms.run(0).measured.blocks.pop_back();
  CHECK(arms.found()[1].timed == 6);
}

TEST_CASE("A stack of several categories counts in none of them, but its scores do",
          "[categories]") {
  TwoArms arms;
  for (int i = 0; i < 8; ++i) arms.add(i % 2 ? "math" : "prose");
  // The last answer belongs to the job of the one before.
  for (size_t a = 0; a < 2; ++a) arms.run(a).answers.back().job = 6;
  const auto found = arms.found();
  REQUIRE(found.size() == 4);
  CHECK(found[1].examples == 4);
  CHECK(found[1].timed == 3);
  CHECK(found[3].timed == 3);
  CHECK(found[1].scores.at("accuracy").count == 4);
}

}  // namespace pardec
