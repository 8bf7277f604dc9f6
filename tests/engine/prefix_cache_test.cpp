// A prefix is computed once for all jobs of a run that ask for it, whichever job gives up in
// between.
#include "src/engine/prefix_cache.hpp"

#include <cmath>
#include <functional>
#include <map>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/support/largest_difference.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

const Tokens kPrefix{10, 11, 12, 13, 14};

/// Feeds `next` after `prefix`, with its logits, in a sequence that began with the shared part.
Task<void> behind(Engine& engine, Tokens prefix, Token next, Counters& cost,
                  std::vector<float>& logits) {
  Prefixed shared = co_await engine.prefixes().begin(prefix, str("behind ", next), "test");
  cost = shared.cost;
  const int position = shared.sequence.rows_fed();
  REQUIRE(position == static_cast<int>(prefix.size()));
  Step step;
  step.add(next, {position, position, 0, 0}, Origin::chosen);
  step.want(0);
  step.outputs.back().logits = true;
  StepResult result = co_await shared.sequence.forward(std::move(step));
  logits = result.outputs[0].logits;
  shared.sequence.finish();
}

/// Finishes a sequence after the prefix, in the name of a decoder.
Task<void> traced(Engine& engine, std::string decoder, Counters& cost) {
  Prefixed shared = co_await engine.prefixes().begin(kPrefix, "after " + decoder, decoder);
  cost = shared.cost;
  shared.sequence.finish();
}

Task<void> whole(Engine& engine, Tokens tokens, std::vector<float>& logits) {
  Sequence sequence = engine.open("whole", "test");
  Step step;
  for (const Token token : tokens) {
    const int position = step.size();
    step.add(token, {position, position, 0, 0}, Origin::prompt);
  }
  step.want(step.size() - 1);
  step.outputs.back().logits = true;
  StepResult result = co_await sequence.forward(std::move(step));
  logits = result.outputs[0].logits;
}

/// 16 rows, then as many again: one block, and a second one.
Task<void> grows(Engine& engine) {
  Sequence sequence = engine.open("grows", "test");
  for (int pass = 0; pass < 2; ++pass) {
    Step step;
    for (int i = 0; i < 16; ++i) {
      const int position = 16 * pass + i;
      step.add(50, {position, position, 0, 0}, Origin::prompt);
    }
    co_await sequence.forward(std::move(step));
  }
}

Task<int> asks(Engine& engine, Counters& cost) {
  Prefixed shared = co_await engine.prefixes().begin(kPrefix, "asks", "test");
  cost = shared.cost;
  co_return shared.sequence.rows_fed();
}

Task<int> fails() {
  throw ConfigError("on purpose");
  co_return 0;
}

/// Asks for the prefix, and is cancelled before the forward pass by a sibling that fails.
Task<void> gives_up(Engine& engine, Counters& cost) {
  std::vector<Task<int>> tasks;
  tasks.push_back(asks(engine, cost));
  tasks.push_back(fails());
  co_await all(std::move(tasks));
}

struct CachedFixture {
  TinyNetwork network{"qwen3", 5};
  Model model = network.load(Dtype::fp64);
  SteadyClock clock;
  Engine engine{model, clock};
  /// Runs the tasks together, and keeps their errors.
  void run(const std::vector<std::function<Task<void>()>>& tasks, int live) {
    engine.run(
        static_cast<int>(tasks.size()), live,
        [&](int i) { return tasks[static_cast<size_t>(i)](); },
        [](const Ended& end) {
          try {
            end.rethrow();
          } catch (const ConfigError&) {
          }
        });
  }
};

}  // namespace

TEST_CASE("prefix cache: the first job pays, and all have the logits of the whole text") {
  CachedFixture f;
  for (const int live : {1, 2, 6}) {
    std::vector<Counters> costs(6);
    std::vector<std::vector<float>> logits(6), expected(6);
    std::vector<std::function<Task<void>()>> tasks, alone;
    for (size_t i = 0; i < 6; ++i) {
      const Tokens prefix = i % 3 == 2 ? Tokens{20, 21} : kPrefix;
      const auto next = static_cast<Token>(30 + i);
      tasks.emplace_back(
          [&, i, prefix, next] { return behind(f.engine, prefix, next, costs[i], logits[i]); });
      Tokens text = prefix;
      text.push_back(next);
      alone.emplace_back([&, i, text] { return whole(f.engine, text, expected[i]); });
    }
    f.run(tasks, live);
    f.run(alone, 1);
    for (size_t i = 0; i < 6; ++i) {
      INFO(live << " live, task " << i);
      CHECK(largest_difference(logits[i], expected[i]) < 1e-5);
      const bool pays = i == 0 || i == 2;
      CHECK(costs[i].forwards == pays);
      CHECK(costs[i].prompt == (i == 0 ? 5 : i == 2 ? 2 : 0));
      CHECK(costs[i].emitted == (pays ? std::map<std::int64_t, std::int64_t>{{0, 1}}
                                      : std::map<std::int64_t, std::int64_t>{}));
    }
  }
}

TEST_CASE("prefix cache: traces of two decoders with the same prefix have the name of their own") {
  CachedFixture f;
  std::map<std::string, std::string> decoders;
  f.engine.set_trace_sink([&](const Trace& trace) { decoders[trace.request] = trace.decoder; });
  std::vector<Counters> costs(4);
  f.run({[&] { return traced(f.engine, "ar", costs[0]); },
         [&] { return traced(f.engine, "ippd", costs[1]); },
         [&] { return traced(f.engine, "ar", costs[2]); },
         [&] { return traced(f.engine, "ippd", costs[3]); }},
        1);
  CHECK(decoders == std::map<std::string, std::string>{{"after ar", "ar"}, {"after ippd", "ippd"}});
  CHECK(costs[0].forwards == 1);
  CHECK(costs[1].forwards == 1);
  CHECK(costs[2].forwards + costs[3].forwards == 0);  // computed once for each decoder
}

TEST_CASE("prefix cache: a run finds nothing of an earlier run") {
  CachedFixture f;
  for (int round = 0; round < 2; ++round) {
    Counters cost;
    std::vector<float> logits;
    f.run({[&] { return behind(f.engine, kPrefix, 40, cost, logits); }}, 1);
    CHECK(cost.forwards == 1);
  }
}

TEST_CASE("prefix cache: when the job that computes gives up, the next one computes") {
  CachedFixture f;
  Counters given_up, cost, late;
  std::vector<float> logits, after;
  f.run({[&] { return gives_up(f.engine, given_up); },
         [&] { return behind(f.engine, kPrefix, 40, cost, logits); },
         [&] { return behind(f.engine, kPrefix, 40, late, after); }},
        3);
  CHECK(given_up.forwards == 0);
  CHECK(cost.forwards == 1);
  CHECK(late.forwards == 0);
  CHECK(largest_difference(logits, after) < 1e-5);
}

TEST_CASE("prefix cache: a job that waited for one that gives up later computes in the next pass") {
  // The task that computes is destroyed while another already waits for its pass.
  CachedFixture f;
  Counters first, second;
  std::vector<float> unused, logits;
  Task<void> computes = behind(f.engine, kPrefix, 40, first, unused);
  bool begun = false;
  f.run({[&] {
           computes.start();  // waits with the rows of the prefix
           begun = true;
           return behind(f.engine, kPrefix, 41, second, logits);
         },
         [&]() -> Task<void> {
           computes = Task<void>();  // withdraws
           return whole(f.engine, {1, 2}, unused);
         }},
        2);
  CHECK(begun);
  CHECK(second.forwards == 1);
  CHECK(!logits.empty());
}

TEST_CASE("prefix cache: under a budget, the prefix that was not asked for longest makes room") {
  CachedFixture f;
  f.engine.set_cache_budget({.blocks = 6, .watermark = 0});
  const Tokens other{20, 21};
  std::vector<Counters> costs(6);
  std::vector<float> logits, unused;
  const auto asks_for = [&](const Tokens& prefix, size_t i) {
    return [&, prefix, i] { return behind(f.engine, prefix, 40, costs[i], logits); };
  };
  const auto blocks = [&](size_t count) {
    return [&, count] { return whole(f.engine, Tokens(16 * count, 7), unused); };
  };
  // One after the other; each prefix is one block.
  f.run({asks_for(kPrefix, 0), asks_for(other, 1), blocks(4), asks_for(kPrefix, 2), blocks(5),
         asks_for(kPrefix, 3), asks_for(other, 4), blocks(6), asks_for(kPrefix, 5)},
        1);
  CHECK(costs[0].forwards == 1);
  CHECK(costs[1].forwards == 1);
  CHECK(costs[2].forwards == 0);  // four blocks: both stay
  CHECK(costs[3].forwards == 0);  // five blocks: one stays, the one that was asked for last
  CHECK(costs[4].forwards == 1);
  CHECK(costs[5].forwards == 1);  // six blocks: none stays
  CHECK(f.engine.cache_report().peak_blocks == 6);
}

TEST_CASE("prefix cache: under a budget, a growing job gets the room of an idle prefix") {
  CachedFixture f;
  f.engine.set_cache_budget({.blocks = 2, .watermark = 0});
  Counters cost;
  std::vector<float> logits;
  f.run({[&] { return behind(f.engine, kPrefix, 40, cost, logits); },
         [&] { return grows(f.engine); }},
        1);
  CHECK(f.engine.cache_report().peak_blocks == 2);
}

TEST_CASE("prefix cache: under a budget of one sequence, all jobs that share a prefix finish") {
  CachedFixture f;
  const Tokens prefix(40, 9);
  std::vector<Counters> costs(4);
  std::vector<std::vector<float>> logits(4);
  std::vector<float> expected;
  std::vector<std::function<Task<void>()>> tasks;
  for (size_t i = 0; i < 4; ++i)
    tasks.emplace_back([&, i] { return behind(f.engine, prefix, 30, costs[i], logits[i]); });
  f.run({[&] {
          return whole(
              f.engine,
              [&] {
                Tokens text = prefix;
                text.push_back(30);
                return text;
              }(),
              expected);
        }},
        1);
  f.engine.set_cache_budget({.blocks = 3, .watermark = 0});
  f.run(tasks, 4);
  std::int64_t computed = 0;
  for (size_t i = 0; i < 4; ++i) {
    CHECK(largest_difference(logits[i], expected) < 1e-5);
    computed += costs[i].forwards;
  }
  CHECK(computed == 1);
  CHECK(f.engine.cache_report().peak_blocks == 3);
  CHECK(f.engine.cache_report().recomputed == 3);
}

TEST_CASE("prefix cache: under a budget, rows that sequences share count once") {
  CachedFixture f;
  const Tokens prefix(320, 9);
  std::vector<Counters> costs(4);
  std::vector<std::vector<float>> logits(4);
  std::vector<std::function<Task<void>()>> tasks;
  for (size_t i = 0; i < 4; ++i)
    tasks.emplace_back([&, i] { return behind(f.engine, prefix, 30, costs[i], logits[i]); });
  // 20 blocks of prefix, and one more for each new row.
  f.engine.set_cascade(true);
  f.engine.set_cache_budget({.blocks = 24, .watermark = 0});
  f.run(tasks, 4);
  CHECK(f.engine.cache_report().peak_blocks == 24);
  CHECK(f.engine.cache_report().recomputed + f.engine.cache_report().swapped == 0);
  const auto shared = logits;
  f.engine.set_cascade(false);
  f.run(tasks, 4);
  CHECK(f.engine.cache_report().recomputed + f.engine.cache_report().swapped > 0);
  for (size_t i = 0; i < 4; ++i) CHECK(largest_difference(shared[i], logits[i]) < 1e-5);
}
