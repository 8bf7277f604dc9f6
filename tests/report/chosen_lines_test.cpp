#include "src/findings/chosen_lines.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// One job of examples a, b, ... with an answer each.
RunAnswers one_job(const std::vector<std::vector<FieldAnswer>>& fields, Tokens stream,
                   std::map<std::int64_t, std::int64_t> emitted) {
  RunAnswers answers;
  JobRow& job = answers.jobs.emplace_back();
  job.tokens = std::move(stream);
  job.counters.emitted = std::move(emitted);
  for (std::size_t e = 0; e < fields.size(); ++e) {
    StoredGeneration& generation = answers.generations.emplace_back();
    generation.row.sample = std::string(1, static_cast<char>('a' + e));
    generation.row.fields = fields[e];
    generation.row.tokens = job.tokens;
    job.key.push_back(generation.row.sample);
  }
  for (std::size_t e = 0; e < fields.size(); ++e)
    answers.by_sample.emplace(std::pair{job.key[e], 0},
                              Answered{answers.generations[e], &answers.jobs[0], e});
  return answers;
}

std::vector<ChosenLine> lines_of(const RunAnswers& answers, const std::string& sample,
                                 const Trace* trace = nullptr) {
  return chosen_lines(answers, answers.by_sample.at({sample, 0}), trace);
}

using Passes = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a stream with one token in each pass has their numbers, one with several has none") {
  const std::vector<std::vector<FieldAnswer>> fields{{{"x", "", {2}, "eos"}}};
  auto lines = lines_of(one_job(fields, {1, 2, 3}, {{1, 3}}), "a");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].field.empty());
  CHECK(lines[0].tokens == Tokens{1, 2, 3});
  CHECK(lines[0].passes == Passes{1, 2, 3});
  lines = lines_of(one_job(fields, {1, 2, 3}, {{1, 1}, {2, 1}}), "a");
  CHECK(lines[0].passes.empty());
}

TEST_CASE("values of a stack that are written in parallel each begin with the first pass") {
  // a: 3 and 1 tokens, b: 2 and 0; passes choose 3, 2 and 1 of them.
  const std::vector<std::vector<FieldAnswer>> fields{{{"x", "", {1, 2, 3}, ""}, {"y", "", {4}, ""}},
                                                     {{"x", "", {5, 6}, ""}, {"y", "", {}, ""}}};
  const auto answers = one_job(fields, {}, {{3, 1}, {2, 1}, {1, 1}});
  auto lines = lines_of(answers, "a");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].passes == Passes{1, 2, 3});
  CHECK(lines[1].passes == Passes{1});
  lines = lines_of(answers, "b");
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].tokens == Tokens{5, 6});
  CHECK(lines[0].passes == Passes{1, 2});
  // Other counts: guesses helped, and it is unknown where.
  CHECK(lines_of(one_job(fields, {}, {{3, 2}}), "a")[0].passes.empty());
}

TEST_CASE("turns that are written one after the other continue the numbers") {
  const auto answers =
      one_job({{{"turn 1", "", {1, 2}, ""}, {"turn 2", "", {3, 4}, ""}}}, {}, {{1, 4}});
  const auto lines = lines_of(answers, "a");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].passes == Passes{1, 2});
  CHECK(lines[1].passes == Passes{3, 4});
}

namespace {

/// Prompt 10, 11. Token 20 is chosen by the prefill, 21 after it in the next pass, which checks a
/// guess.
Trace traced_guess(Token guess) {
  Trace trace;
  trace.tokens = {10, 11, 20, guess};
  trace.position = {0, 1, 2, 3};
  trace.step = {0, 0, 1, 1};
  trace.visible = {{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}};
  trace.predicts = {std::nullopt, 20, 21, 22};
  trace.from = {std::nullopt, std::nullopt, 1, std::nullopt};
  trace.banned.resize(4);
  trace.allowed.resize(4);
  trace.dropped_at.resize(4);
  return trace;
}

}  // namespace

TEST_CASE("a trace tells in which pass an accepted guess was chosen") {
  Trace trace = traced_guess(21);
  trace.emitted = {1, 2, 3};  // 22 is chosen by the guess
  const auto answers = one_job({{}}, {20, 21, 22}, {{1, 1}, {2, 1}});
  CHECK(lines_of(answers, "a", &trace)[0].passes == Passes{1, 2, 2});
}

TEST_CASE("a trace tells which guesses were rejected, and by which pass") {
  Trace trace = traced_guess(30);
  trace.dropped_at[3] = 1;
  trace.emitted = {1, 2};
  const auto answers = one_job({{}}, {20, 21}, {{1, 2}});
  const auto line = lines_of(answers, "a", &trace)[0];
  CHECK(line.passes == Passes{1, 2});
  CHECK(line.rejected == std::vector<std::pair<std::int64_t, Token>>{{2, 30}});
}
