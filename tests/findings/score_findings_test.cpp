#include "src/findings/score_findings.hpp"

#include <cmath>
#include <set>

#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// Answers to questions of texts: right or not, by the number of the question.
struct Arm {
  std::shared_ptr<ExampleNames> names;
  ScoreTable table{names};

  /// `text`: the text that the question belongs to.
  void add(std::int32_t question, std::int32_t text, bool right, std::int32_t repeat = 0) {
    while (std::ssize(names->keys) <= question)
      names->keys.push_back(std::to_string(names->keys.size()));
    const std::int32_t cluster = names->clusters.of(std::to_string(text));
    const std::int32_t answer = table.add({question, cluster, names->categories.of(""), repeat, 1});
    ScoreTable::Column& column = table.column_of("accuracy");
    column.rows.push_back(
        {answer, names->fields.of("answer"), column.place_of("{}"), 1, right ? 1.0 : 0.0});
  }
};

ScoreFinding found(const Arm& method, const Arm& baseline, double margin = 0.05) {
  return score_findings(method.table, &baseline.table, {"accuracy"}, margin, 0.95).at("accuracy");
}

using Verdict = ScoreFinding::Verdict;

}  // namespace

TEST_CASE("A score's difference is over the examples that both arms have", "[scores]") {
  // Equal on 48 texts. The method has no answer to 12 more, all of which the baseline has wrong.
  // That does not improve its score.
  auto names = std::make_shared<ExampleNames>();
  Arm baseline{names}, method{names};
  for (int i = 0; i < 60; ++i) {
    const bool right = i < 48 && i % 4 != 0;
    baseline.add(i, i, right);
    if (i < 48) method.add(i, i, right);
  }
  const ScoreFinding finding = found(method, baseline);
  CHECK(finding.value.estimate == Approx(36.0 / 48));
  CHECK(finding.difference->estimate == 0);
  CHECK(finding.difference->high < 0.08);
  CHECK(finding.pairs == 48);
  CHECK(finding.left_out == 12);
  CHECK(*finding.p == 1);
}

TEST_CASE("Failed answers are wrong answers", "[scores]") {
  // As above, but the method failed where the baseline is right.
  auto names = std::make_shared<ExampleNames>();
  Arm baseline{names}, method{names};
  for (int i = 0; i < 60; ++i) {
    const bool right = i % 4 != 0;
    baseline.add(i, i, right);
    method.add(i, i, right && i >= 12);
  }
  const ScoreFinding finding = found(method, baseline);
  CHECK(finding.difference->estimate == Approx(-9.0 / 60));
  CHECK(finding.verdict(0.05) == Verdict::worse);
  CHECK(finding.left_out == 0);
}

TEST_CASE("Few equal answers are no evidence, and the finding says how many would be", "[scores]") {
  for (const int count : {6, 12, 24, 60, 75, 76, 300}) {
    auto names = std::make_shared<ExampleNames>();
    Arm baseline{names}, method{names};
    for (int i = 0; i < count; ++i)
      for (Arm* arm : {&baseline, &method}) arm->add(i, i, i % 3 == 0);
    const ScoreFinding finding = found(method, baseline);
    INFO(count);
    CHECK(finding.verdict(0.05) == (count > 75 ? Verdict::not_worse : Verdict::open));
    CHECK(finding.would_do == 76);
    CHECK(*finding.p == 1);
  }
}

TEST_CASE("Questions about one text are no independent evidence", "[scores]") {
  auto names = std::make_shared<ExampleNames>();
  Arm baseline{names}, method{names};
  // Ten texts with eight questions each. The method has all questions of six texts wrong, and those
  // of two more right.
  for (int text = 0; text < 10; ++text)
    for (int q = 0; q < 8; ++q) {
      const bool gained = text >= 6 && text < 8;
      baseline.add(8 * text + q, text, !gained);
      method.add(8 * text + q, text, text >= 6);
    }
  const ScoreFinding finding = found(method, baseline);
  CHECK(*finding.p ==
        Approx(clustered_mcnemar(std::vector<std::int64_t>{8, 8, 8, 8, 8, 8, -8, -8})));
  CHECK(*finding.p > 0.2);               // six of eight texts
  CHECK(mcnemar_exact(48, 16) < 0.001);  // the number for 64 independent questions
  CHECK(finding.verdict(0.05) != Verdict::not_worse);
}

TEST_CASE("Repeats are not new examples", "[scores]") {
  auto names = std::make_shared<ExampleNames>();
  Arm baseline{names}, method{names};
  for (int i = 0; i < 30; ++i)
    for (int repeat = 0; repeat < 5; ++repeat)
      for (Arm* arm : {&baseline, &method}) arm->add(i, i, true, repeat);
  const ScoreFinding finding = found(method, baseline);
  CHECK(finding.pairs == 30);
  CHECK(finding.verdict(0.05) == Verdict::open);
}

}  // namespace pardec
