// fork, keep, drop and relabel: rows that are computed afterwards have the logits of a fresh
// forward over the remaining rows.
#include <algorithm>
#include <cmath>

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/largest_difference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

// fp64, returned as float32 logits below 8: one rounding each.
constexpr float kRounding = 2 * 8 * 0x1p-24f;

Step step_of(const Tokens& tokens, const std::vector<RowLabel>& labels) {
  Step step;
  for (size_t i = 0; i < tokens.size(); ++i) step.add(tokens[i], labels[i], Origin::chosen);
  OutputRequest last;
  last.index = step.size() - 1;
  last.logits = true;
  step.outputs.push_back(last);
  return step;
}

std::vector<RowLabel> causal(int first, int count) {
  std::vector<RowLabel> labels;
  for (int i = first; i < first + count; ++i) labels.push_back({i, i, 0, 0});
  return labels;
}

/// Logits of the last row of a text, in a separate sequence.
Task<void> fresh(Engine& engine, Tokens tokens, std::vector<RowLabel> labels,
                 std::vector<float>& out) {
  Sequence sequence = engine.open("fresh", "test");
  const StepResult result = co_await sequence.forward(step_of(tokens, labels));
  out = result.outputs[0].logits;
}

struct DrivenFixture {
  TinyNetwork network{"qwen3", 5};
  Model model = network.load(Dtype::fp64);
  SteadyClock clock;
  Engine engine{model, clock};
  std::map<std::string, Trace> traces;
  DrivenFixture() {
    engine.set_trace_sink([this](const Trace& trace) { traces[trace.request] = trace; });
  }
  void run(const std::function<Task<void>()>& make) {
    engine.run(
        1, 1, [&](int) { return make(); }, [](const Ended& end) { end.rethrow(); });
  }
  std::vector<float> fresh_logits(const Tokens& tokens) {
    std::vector<float> out;
    run([&] { return fresh(engine, tokens, causal(0, static_cast<int>(tokens.size())), out); });
    return out;
  }
};

}  // namespace

TEST_CASE("drop and keep: refused guesses leave no trace in what follows") {
  DrivenFixture f;
  std::vector<float> after_keep, after_drop;
  Counters counters;
  struct Job {
    static Task<void> run(Engine& engine, std::vector<float>& kept, std::vector<float>& dropped,
                          Counters& counters) {
      Sequence sequence = engine.open("guesses", "test");
      const Tokens prompt{10, 11, 12}, guesses{20, 21, 22, 23}, next{30}, last{31};
      Step step = step_of(prompt, causal(0, 3));
      co_await sequence.forward(std::move(step));
      step = step_of(guesses, causal(3, 4));
      const StepResult guessed = co_await sequence.forward(std::move(step));
      const std::vector<int> accepted{guessed.first_row};
      sequence.keep(guessed.first_row, accepted);  // 20 stays, 21 to 23 go
      step = step_of(next, causal(4, 1));
      const StepResult after = co_await sequence.forward(std::move(step));
      kept = after.outputs[0].logits;
      const std::vector<int> rows{after.first_row};
      sequence.drop(rows);
      step = step_of(last, causal(4, 1));
      const StepResult again = co_await sequence.forward(std::move(step));
      dropped = again.outputs[0].logits;
      counters = sequence.finish();
    }
  };
  f.run([&] { return Job::run(f.engine, after_keep, after_drop, counters); });
  CHECK(largest_difference(after_keep, f.fresh_logits({10, 11, 12, 20, 30})) <= kRounding);
  CHECK(largest_difference(after_drop, f.fresh_logits({10, 11, 12, 20, 31})) <= kRounding);
  CHECK(largest_difference(after_drop, f.fresh_logits({10, 11, 12, 20, 21, 31})) > 1e-2f);
  CHECK(counters.scratch == 4);
  CHECK(counters.fed == 9);
  CHECK(counters.cached_peak == 7);
  const Trace& trace = f.traces.at("guesses");
  using Step_ = std::optional<int>;
  CHECK(trace.dropped_at == std::vector<Step_>{{}, {}, {}, {}, 1, 1, 1, 2, {}});
  CHECK(trace.visible[7] == std::vector<int>{0, 1, 2, 3, 7});
  CHECK(trace.visible[8] == std::vector<int>{0, 1, 2, 3, 8});
  CHECK(replay(f.network.slow(), trace, 2e-4).wrong.empty());
}

TEST_CASE("drafts with skipped sublayers are removed without a trace") {
  DrivenFixture f;
  const Tokens text{4, 8, 15, 16, 23};
  std::vector<float> after;
  Counters counters;
  struct Job {
    static Task<void> run(Engine& engine, Tokens text, std::vector<float>& after, Counters& out) {
      Sequence sequence = engine.open("r", "test");
      const Tokens prompt(text.begin(), text.begin() + 3);
      co_await sequence.forward(step_of(prompt, causal(0, 3)));
      for (int i = 0; i < 2; ++i) {
        const Tokens guess{42};
        Step step = step_of(guess, causal(3 + i, 1));
        step.skipped = SkippedSublayers{{true, false}, {false, true}};
        const StepResult drafted = co_await sequence.forward(std::move(step));
        CHECK(drafted.first_row == 3 + i);
      }
      sequence.take_back_drafts();
      CHECK(sequence.rows_fed() == 3);
      const Tokens rest(text.begin() + 3, text.end());
      after = (co_await sequence.forward(step_of(rest, causal(3, 2)))).outputs[0].logits;
      out = sequence.finish();
    }
  };
  f.run([&] { return Job::run(f.engine, text, after, counters); });
  CHECK(largest_difference(after, f.fresh_logits(text)) <= kRounding);
  CHECK(counters.forwards == 2);
  CHECK(counters.fed == 5);
  CHECK(counters.attended == 15);
  CHECK(counters.draft_forwards == 2);
  CHECK(counters.draft_fed == 2);
  CHECK(counters.scratch == 0);
  CHECK(f.traces.at("r").tokens == text);
  CHECK(f.traces.at("r").step == std::vector<int>{0, 0, 0, 1, 1});

  // A full pass over rows that lack keys would be wrong, so it is refused.
  struct Forgetful {
    static Task<void> run(Engine& engine) {
      Sequence sequence = engine.open("f", "test");
      const Tokens one{1};
      Step step = step_of(one, causal(0, 1));
      step.skipped = SkippedSublayers{{true, true}, {true, true}};
      co_await sequence.forward(std::move(step));
      co_await sequence.forward(step_of(one, causal(1, 1)));
    }
  };
  CHECK_THROWS_AS(f.run([&] { return Forgetful::run(f.engine); }), std::logic_error);
}

TEST_CASE("relabel: an accepted tree node joins the trunk") {
  DrivenFixture f;
  std::vector<float> after;
  struct Job {
    static Task<void> run(Engine& engine, std::vector<float>& after) {
      Sequence sequence = engine.open("tree", "test");
      const Tokens prompt{10, 11, 12}, nodes{20, 21}, next{30};
      Step step = step_of(prompt, causal(0, 3));
      co_await sequence.forward(std::move(step));
      // Two guesses for position 3, each in its own segment.
      const std::vector<int> trunk{0};
      const int first = sequence.add_segment(trunk), second = sequence.add_segment(trunk);
      const std::vector<RowLabel> labels{{3, 3, first, 0}, {3, 3, second, 0}};
      step = step_of(nodes, labels);
      const StepResult guessed = co_await sequence.forward(std::move(step));
      const std::vector<int> accepted{guessed.first_row + 1};
      sequence.keep(guessed.first_row, accepted);
      sequence.relabel(guessed.first_row + 1, {3, 3, 0, 0});
      step = step_of(next, causal(4, 1));
      const StepResult result = co_await sequence.forward(std::move(step));
      after = result.outputs[0].logits;
      sequence.finish();
    }
  };
  f.run([&] { return Job::run(f.engine, after); });
  CHECK(largest_difference(after, f.fresh_logits({10, 11, 12, 21, 30})) <= kRounding);
  CHECK(largest_difference(after, f.fresh_logits({10, 11, 12, 20, 30})) > 1e-2f);
  const Trace& trace = f.traces.at("tree");
  CHECK(trace.visible[4] == std::vector<int>{0, 1, 2, 4});
  CHECK(trace.visible[5] == std::vector<int>{0, 1, 2, 4, 5});
  CHECK(replay(f.network.slow(), trace, 2e-4).wrong.empty());
}

TEST_CASE("fork: both continue independently from the same rows") {
  DrivenFixture f;
  std::vector<float> left, right;
  Counters of_copy;
  struct Job {
    static Task<void> run(Engine& engine, std::vector<float>& left, std::vector<float>& right,
                          Counters& of_copy) {
      Sequence sequence = engine.open("original", "test");
      const Tokens prompt{10, 11, 12}, more{13}, a{20}, b{30}, c{31}, d{32};
      Step step = step_of(prompt, causal(0, 3));
      co_await sequence.forward(std::move(step));
      step = step_of(more, causal(3, 1));
      co_await sequence.forward(std::move(step));
      Sequence copy = sequence.fork("copy");
      const std::vector<int> last{3};
      sequence.drop(last);
      step = step_of(a, causal(3, 1));
      const StepResult l = co_await sequence.forward(std::move(step));
      left = l.outputs[0].logits;
      step = step_of(b, causal(4, 1));
      co_await copy.forward(std::move(step));
      step = step_of(c, causal(5, 1));
      co_await copy.forward(std::move(step));
      const std::vector<int> refused{5};
      copy.drop(refused);
      step = step_of(d, causal(5, 1));
      const StepResult r = co_await copy.forward(std::move(step));
      right = r.outputs[0].logits;
      sequence.finish();
      of_copy = copy.finish();
    }
  };
  f.run([&] { return Job::run(f.engine, left, right, of_copy); });
  CHECK(largest_difference(left, f.fresh_logits({10, 11, 12, 20})) <= kRounding);
  CHECK(largest_difference(right, f.fresh_logits({10, 11, 12, 13, 30, 32})) <= kRounding);
  CHECK(of_copy.fed == 3);  // its counters start at zero
  CHECK(of_copy.forwards == 3);
  // Its trace is complete, and its steps continue those of the original.
  const Trace& copy = f.traces.at("copy");
  CHECK(copy.tokens == Tokens{10, 11, 12, 13, 30, 31, 32});
  CHECK(copy.step == std::vector<int>{0, 0, 0, 1, 2, 3, 4});
  CHECK(copy.dropped_at[5] == 3);
  CHECK(replay(f.network.slow(), copy, 2e-4).wrong == std::vector<std::string>{});
  CHECK(f.traces.at("original").tokens == Tokens{10, 11, 12, 13, 20});
}

TEST_CASE("dropping a row that is not alive is a bug, and reported as one") {
  DrivenFixture f;
  struct Job {
    static Task<void> run(Engine& engine) {
      Sequence sequence = engine.open("wrong", "test");
      const Tokens prompt{10, 11};
      Step step = step_of(prompt, causal(0, 2));
      co_await sequence.forward(std::move(step));
      const std::vector<int> row{1};
      sequence.drop(row);
      CHECK_THROWS_AS(sequence.drop(row), std::logic_error);
      CHECK_THROWS_AS(sequence.relabel(1, {1, 1, 0, 0}), std::logic_error);
      CHECK_THROWS_AS(sequence.relabel(0, {5, 0, 0, 0}),
                      std::logic_error);  // a position is part of the cached key
    }
  };
  f.run([&] { return Job::run(f.engine); });
}
