// The scheduler: which steps share a forward pass, in which order, what is measured, and that a
// failing job fails alone.
#include "src/engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A clock that stands still unless the test moves it. Every reading counts.
class TestClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return now += 1000; }
  mutable std::int64_t now = 0;
};

Step causal_step(const Tokens& tokens, int first, Origin origin = Origin::chosen) {
  Step step;
  for (const Token token : tokens) {
    const int at = first + step.size();
    step.add(token, {.position = at, .order = at, .segment = 0, .rank = 0}, origin);
  }
  step.want(step.size() - 1);
  return step;
}

/// `steps` steps of one token after a prompt.
Task<void> plain_job(Engine& engine, std::string name, Tokens prompt, int steps,
                     std::vector<std::string>& log) {
  Sequence sequence = engine.open(name, "test");
  StepResult result = co_await sequence.forward(causal_step(prompt, 0, Origin::prompt));
  for (int i = 0; i < steps; ++i) {
    log.push_back(name);
    sequence.emit(sequence.rows_fed() - 1, result.outputs[0].best);
    Step step = causal_step({result.outputs[0].best}, sequence.rows_fed());
    result = co_await sequence.forward(std::move(step));
  }
  log.push_back(name + " ends");
  sequence.finish();
}

/// A branch: `count` tokens one by one in its own segment.
Task<int> branch(Sequence& sequence, int segment, Token token, int from, int count, int fails_at,
                 std::vector<int>& rows) {
  for (int i = 0; i < count; ++i) {
    if (i == fails_at) throw std::runtime_error(str("branch ", segment, " fails"));
    Step step;
    step.add(token, {.position = from + i, .order = from + i, .segment = segment, .rank = 0},
             Origin::chosen);
    step.want(0);
    const StepResult result = co_await sequence.forward(std::move(step));
    rows.push_back(result.first_row);
  }
  co_return segment;
}

Task<void> branching_job(Engine& engine, std::string name, std::vector<int> lengths, int failing,
                         std::vector<std::vector<int>>& rows) {
  Sequence sequence = engine.open(name, "test");
  const Tokens prompt{5, 6, 7};
  co_await sequence.forward(causal_step(prompt, 0, Origin::prompt));
  rows.assign(lengths.size(), {});
  std::vector<Task<int>> branches;
  for (size_t i = 0; i < lengths.size(); ++i)
    branches.push_back(branch(sequence, sequence.add_segment({0}), static_cast<Token>(50 + i), 3,
                              lengths[i], static_cast<int>(i) == failing ? 1 : -1, rows[i]));
  co_await all(std::move(branches));
  sequence.finish();
}

struct ScheduledFixture {
  TinyNetwork network{"llama", 1, {{"max_position_embeddings", 64}}};
  Model model = network.load(Dtype::fp32);
  TestClock clock;
  Engine engine{model, clock};
  std::map<std::string, Trace> traces;
  std::vector<std::string> errors;
  ScheduledFixture() {
    engine.set_trace_sink([this](const Trace& trace) { traces[trace.request] = trace; });
  }
  void run(int count, int live, const std::function<Task<void>(int)>& start) {
    errors.assign(static_cast<size_t>(count), "");
    engine.run(count, live, start, [this](const Ended& end) {
      try {
        end.rethrow();
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(end.job)] = error.what();
      }
    });
  }
};

}  // namespace

TEST_CASE("jobs enter a forward pass in the order of their arrival, at most `live` at a time") {
  ScheduledFixture f;
  std::vector<std::string> log;
  std::vector<int> started, ended;
  int live = 0, most = 0;
  const int steps[] = {2, 0, 1, 1};
  f.engine.run(
      4, 2,
      [&](int i) {
        started.push_back(i);
        most = std::max(most, ++live);
        return plain_job(f.engine, str("j", i), {1, 2}, steps[i], log);
      },
      [&](const Ended& end) {
        end.rethrow();
        --live;
        ended.push_back(end.job);
      });
  CHECK(started == std::vector<int>{0, 1, 2, 3});
  CHECK(most == 2);
  CHECK(f.engine.occupancy().passes == 5);
  CHECK(f.engine.occupancy().job_passes == 8);
  CHECK(f.engine.occupancy().stream_passes == 8);
  CHECK(ended == std::vector<int>{1, 0, 2, 3});
  CHECK(log == std::vector<std::string>{"j0", "j1 ends", "j0", "j2", "j0 ends", "j2 ends", "j3",
                                        "j3 ends"});
}

TEST_CASE("a pass takes a limited number of prompt rows, but the first prompt of any length") {
  ScheduledFixture f;
  f.engine.set_cache_budget({.prefill_rows = 50});
  const int lengths[] = {20, 25, 30, 60,
                         5};  // the last one would fit, but does not overtake another
  std::vector<std::string> log;
  f.run(5, 5, [&](int i) {
    return plain_job(f.engine, str("j", i), Tokens(static_cast<size_t>(lengths[i]), 7), 2, log);
  });
  CHECK(f.errors == std::vector<std::string>(5));
  // Each line is a pass: those that waited longest go on first.
  CHECK(log == std::vector<std::string>{"j0", "j1",                        // 20 + 25
                                        "j2", "j0", "j1",                  // 30
                                        "j3", "j2", "j0 ends", "j1 ends",  // 60
                                        "j4", "j3", "j2 ends",             // 5
                                        "j4", "j3 ends", "j4 ends"});
  // A job that waits for room is not running.
  CHECK(f.engine.occupancy().passes == 6);
  CHECK(f.engine.occupancy().job_passes == 15);
}

TEST_CASE("branches of one sequence start together, in insertion order, and each ends on its own") {
  ScheduledFixture f;
  std::vector<std::vector<int>> rows;
  f.run(1, 1, [&](int) { return branching_job(f.engine, "b", {2, 3, 1}, -1, rows); });
  CHECK(f.errors[0] == "");
  CHECK(f.engine.occupancy().passes == 4);
  CHECK(f.engine.occupancy().job_passes == 4);
  CHECK(f.engine.occupancy().stream_passes == 1 + 3 + 2 + 1);
  CHECK(rows == std::vector<std::vector<int>>{{3, 6}, {4, 7, 8}, {5}});
  const Trace& trace = f.traces.at("b");
  CHECK(trace.tokens == Tokens{5, 6, 7, 50, 51, 52, 50, 51, 51});
  CHECK(trace.step == std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 3});
  CHECK(trace.visible[7] ==
        std::vector<int>{0, 1, 2, 4, 7});  // its own branch, and the rows that its segment sees
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 3, 3, 4, 4, 5});
}

TEST_CASE("a branch that fails removes its siblings' pending steps, and no other job") {
  ScheduledFixture f;
  std::vector<std::vector<int>> rows;
  std::vector<std::string> log;
  f.run(3, 3, [&](int i) {
    return i == 1 ? branching_job(f.engine, "failing", {4, 4, 4}, 1, rows)
                  : plain_job(f.engine, str("j", i), {3, 4}, 4, log);
  });
  CHECK(f.errors == std::vector<std::string>{"", "branch 2 fails", ""});
  CHECK(std::count(log.begin(), log.end(), "j0 ends") == 1);
  CHECK(std::count(log.begin(), log.end(), "j2 ends") == 1);
  CHECK(!f.traces.contains("failing"));  // a trace belongs to a finished sequence
  // Branch 1 had asked for its second token before branch 2 failed: that step was withdrawn.
  CHECK(rows == std::vector<std::vector<int>>{{3}, {4}, {}});
}

TEST_CASE("a token or position that the network lacks fails its own job before anything is fed") {
  ScheduledFixture f;
  std::vector<std::string> log;
  const int vocab = f.model.config().vocab_size;
  const std::vector<Tokens> prompts = {{1, 2, 3}, {1, vocab},    {4, 5},
                                       {-1},      Tokens(65, 7), Tokens(60, 7)};
  f.run(6, 6, [&](int i) {
    return plain_job(f.engine, str("j", i), prompts[static_cast<size_t>(i)], i == 5 ? 9 : 3, log);
  });
  CHECK(f.errors[0] == "");
  CHECK_THAT(f.errors[1], Catch::Contains(str("token id ", vocab)) &&
                              Catch::Contains(str("ends at ", vocab - 1)));
  CHECK(f.errors[2] == "");
  CHECK_THAT(f.errors[3], Catch::Contains("token id -1"));
  CHECK_THAT(f.errors[4],
             Catch::Contains("position 64") && Catch::Contains("max_position_embeddings is 64"));
  CHECK_THAT(f.errors[5], Catch::Contains("position 64"));  // in mid-run
  CHECK(f.traces.size() == 2);
  // The remaining jobs continue as if they were alone.
  for (const int i : {0, 2}) {
    ScheduledFixture alone;
    std::vector<std::string> ignored;
    alone.run(1, 1, [&](int) {
      return plain_job(alone.engine, str("j", i), prompts[static_cast<size_t>(i)], 3, ignored);
    });
    CHECK(alone.traces.at(str("j", i)).tokens == f.traces.at(str("j", i)).tokens);
  }
}

namespace {

/// Rounds of guesses by a draft network, of the given lengths, each followed by a pass of the
/// network over one token.
Task<void> drafting_job(Engine& engine, Model& draft, std::string name, std::vector<int> lengths,
                        std::vector<std::string>& log, Counters& counters) {
  Sequence sequence = engine.open(name, "test");
  Sequence guesses = sequence.open_draft(draft);
  const Tokens two{7, 8}, one{5};
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) {
      log.push_back(name + " drafts");
      co_await guesses.forward(causal_step(two, guesses.rows_fed(), Origin::draft));
    }
    log.push_back(name);
    co_await sequence.forward(causal_step(one, sequence.rows_fed()));
    sequence.emit(sequence.rows_fed() - 1, 9);
  }
  guesses.finish();
  counters = sequence.finish();
}

}  // namespace

TEST_CASE("a draft network's passes come first, so that all jobs meet in the network's own pass") {
  ScheduledFixture f;
  Model draft = f.network.load(Dtype::fp32);
  std::vector<std::string> log;
  Counters a, b;
  f.run(2, 2, [&](int i) {
    return i ? drafting_job(f.engine, draft, "b", {1, 2}, log, b)
             : drafting_job(f.engine, draft, "a", {3, 1}, log, a);
  });
  CHECK(f.errors == std::vector<std::string>{"", ""});
  CHECK(log == std::vector<std::string>{"a drafts", "b drafts", "a drafts", "b", "a drafts", "a",
                                        // b waited for a; then both continue
                                        "b drafts", "a drafts", "b drafts", "a", "b"});
  CHECK(a.forwards == 2);
  CHECK(a.fed == 2);
  CHECK(a.draft_forwards == 4);
  CHECK(a.draft_fed == 8);
  CHECK(a.draft_ns == 4000);  // every pass takes two readings of the clock
  CHECK(b.draft_forwards == 3);
  CHECK(a.emitted == std::map<std::int64_t, std::int64_t>{{1, 2}});
  CHECK(f.traces.at("a").model.empty());  // the draft's pass came first
}

TEST_CASE("the engine stays usable after a root is destroyed while it waits") {
  ScheduledFixture f;
  std::vector<std::string> log;
  std::vector<std::vector<int>> rows;
  {
    Task<void> plain = plain_job(f.engine, "gone", {1, 2}, 3, log);
    Task<void> branching = branching_job(f.engine, "gone too", {1, 1}, -1, rows);
    plain.start();
    branching.start();
  }
  f.run(1, 1, [&](int) { return plain_job(f.engine, "stays", {1, 2}, 2, log); });
  CHECK(f.errors[0] == "");
  CHECK(log == std::vector<std::string>{"stays", "stays", "stays ends"});
  CHECK(f.traces.at("stays").tokens.size() == 4);
}

TEST_CASE(
    "times come from the clock: prefill to the end of the first forward, decode from there on") {
  ScheduledFixture f;
  Counters counters;
  struct Job {
    static Task<void> run(Engine& engine, TestClock& clock, Counters& out) {
      Sequence sequence = engine.open("timed", "test");  // reads 2000, the run began at 1000
      const Tokens prompt{1, 2, 3};
      co_await sequence.forward(causal_step(
          prompt, 0, Origin::prompt));  // reads 3000 before, 4000 after; 1000 more for the load
      clock.now += 5'000'000;
      const Tokens next{4};
      co_await sequence.forward(causal_step(next, 3));
      out = sequence.finish();
      out = sequence.finish();  // closing twice changes nothing
    }
  };
  const std::int64_t outside = f.engine.run(
      1, 1, [&](int) { return Job::run(f.engine, f.clock, counters); },
      [&](const Ended& end) {
        end.rethrow();
        f.clock.now += 7'000'000;
      });
  CHECK(counters.prefill_ns == 2000);
  CHECK(counters.decode_ns == 5'004'000);
  CHECK(counters.total_ns == 5'006'000);
  // Three rows until the second pass, then four.
  REQUIRE(f.engine.occupancy().load.size() == 1);
  CHECK(f.engine.occupancy().load[0].ns == 5'010'000);
  CHECK(f.engine.occupancy().load[0].row_ns == 3 * 5'004'000 + 4 * 6'000);
  CHECK(f.engine.occupancy().load[0].waiting_ns == 0);
  CHECK(f.engine.model_ns() == 2000);
  CHECK(outside == 7'001'000);
  CHECK(counters.forwards == 2);
  CHECK(counters.prompt == 3);
  CHECK(counters.fed == 4);
  CHECK(counters.attended == 1 + 2 + 3 + 4);
  CHECK(counters.emitted == std::map<std::int64_t, std::int64_t>{{0, 2}});
}

TEST_CASE(
    "counters of several sequences add up; of parallel times and peaks the larger one counts") {
  Counters a, b;
  a.fed = 3, a.forwards = 2, a.total_ns = 10, a.cached_peak = 5, a.branch_lengths = {1},
  a.emitted = {{1, 2}};
  b.fed = 4, b.forwards = 3, b.total_ns = 7, b.cached_peak = 6, b.branch_lengths = {2},
  b.emitted = {{1, 1}, {3, 1}};
  a.add_beside(b);
  CHECK(a.fed == 7);
  CHECK(a.forwards == 5);
  CHECK(a.total_ns == 10);
  CHECK(a.cached_peak == 11);  // both are in memory
  CHECK(a.branch_lengths == std::vector<std::int64_t>{1, 2});
  CHECK(a.emitted == std::map<std::int64_t, std::int64_t>{{1, 3}, {3, 1}});
}

TEST_CASE("a trace stores visible rows as ranges") {
  Trace trace;
  trace.request = "r";
  trace.decoder = "d";
  trace.tokens = {4, 5};
  trace.position = {0, 9};
  trace.step = {0, 1};
  trace.visible = {{0}, {0, 1, 2, 5, 7, 8}};
  trace.predicts = {5, std::nullopt};
  trace.from = {std::nullopt, 0};
  trace.banned = {{}, {3}};
  trace.dropped_at = {std::nullopt, 2};
  trace.emitted = {0};
  CHECK(to_json(trace).dump() ==
        R"({"request":"r","decoder":"d","tokens":[4,5],"position":[0,9],"step":[0,1],)"
        R"("visible":[[0],[[0,3],5,[7,9]]],"predicts":[5,null],"from":[null,0],)"
        R"("banned":[null,[3]],"dropped_at":[null,2],"emitted":[0]})");
  trace.allowed = {{}, {5, 6}};
  CHECK(to_json(trace).dump().ends_with(R"("emitted":[0],"allowed":[null,[5,6]]})"));
}

namespace {

/// A job's view of its rows: at once, and asked for later.
struct Seen {
  std::vector<RowLogits> at_once, later;
};

/// Four rows. The last one is asked for at once and the rest later; with `all`, all at once.
Task<void> asking_job(Engine& engine, std::string name, Tokens prompt, bool all, Seen& seen) {
  Sequence sequence = engine.open(name, "test");
  Step step = causal_step(prompt, 0, Origin::prompt);
  step.later = !all;
  const Sampling sampling{.temperature = 0.7};
  for (int i = 0; all && i + 1 < step.size(); ++i) step.want(i, sampling, {3});
  StepResult result = co_await sequence.forward(std::move(step));
  seen.at_once = result.outputs;
  if (all) {
    seen.later.assign(seen.at_once.begin() + 1, seen.at_once.end());
  } else {
    std::vector<OutputRequest> further;
    for (int i = 0; i + 1 < std::ssize(prompt); ++i)
      further.push_back({.index = i, .sampling = sampling, .banned = {3}});
    StepResult more = co_await sequence.later(result, std::move(further));
    seen.later = std::move(more.outputs);
  }
  Step next = causal_step({1}, sequence.rows_fed());
  co_await sequence.forward(std::move(next));
  sequence.finish();
}

}  // namespace

TEST_CASE("logits that are asked for after others are those of their own rows") {
  ScheduledFixture f;
  const std::vector<Tokens> prompts{{5, 6, 7, 8}, {9, 10}, {11, 12, 13}};
  std::vector<Seen> at_once(3), later(3);
  f.run(3, 3, [&](int i) {
    const auto job = static_cast<size_t>(i);
    return asking_job(f.engine, str("at once ", i), prompts[job], true, at_once[job]);
  });
  f.run(3, 3, [&](int i) {
    const auto job = static_cast<size_t>(i);
    return asking_job(f.engine, str("later ", i), prompts[job], false, later[job]);
  });
  for (size_t job = 0; job < 3; ++job) {
    INFO("job " << job << " " << f.errors[job]);
    REQUIRE(later[job].later.size() == prompts[job].size() - 1);
    REQUIRE(at_once[job].later.size() == later[job].later.size());
    CHECK(later[job].at_once.size() == 1);
    for (size_t i = 0; i < later[job].later.size(); ++i) {
      const RowLogits &a = at_once[job].later[i], &b = later[job].later[i];
      CHECK(a.best == b.best);
      CHECK(std::abs(a.best_logit - b.best_logit) < 1e-4);  // fp32, together with other rows
      CHECK(b.probabilities[3] == 0);
      for (size_t id = 0; id < a.probabilities.size(); ++id)
        REQUIRE(std::abs(a.probabilities[id] - b.probabilities[id]) < 1e-4);
    }
    const Trace &one = f.traces.at(str("at once ", job)), &two = f.traces.at(str("later ", job));
    CHECK(one.predicts == two.predicts);
    CHECK(one.banned == two.banned);
    CHECK(one.step == two.step);  // no pass of its own
  }
}

TEST_CASE("rows of a step that were not kept cannot be asked for") {
  ScheduledFixture f;
  std::string error;
  f.engine.run(
      1, 1,
      [&](int) -> Task<void> {
        Sequence sequence = f.engine.open("late", "test");
        Step step = causal_step({1, 2}, 0);
        const StepResult result = co_await sequence.forward(std::move(step));
        std::vector<OutputRequest> further(1);
        co_await sequence.later(result, std::move(further));
      },
      [&](const Ended& end) {
        try {
          end.rethrow();
        } catch (const std::logic_error& e) {
          error = e.what();
        }
      });
  CHECK(error == "Model::further: row 0 was not kept");
}
