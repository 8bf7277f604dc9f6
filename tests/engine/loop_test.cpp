// The engine as a loop: jobs start and end between passes, and events report what `run` returns.
#include <algorithm>
#include <stdexcept>

#include "src/engine/engine.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// Greedy text after a prompt; fails before token `fails_at`.
Task<void> greedy_job(Engine& engine, std::string name, Tokens prompt, int count, Tokens& chosen,
                      int fails_at = -1) {
  Sequence sequence = engine.open(name, "test");
  Step step = prompt_step(prompt, 0);
  for (int i = 0;; ++i) {
    const int last = step.size() - 1;
    step.want(last);
    const StepResult seen = co_await sequence.forward(std::exchange(step, Step{}));
    if (i == fails_at) throw std::runtime_error(name + " fails");
    const Token token = seen.outputs[0].best;
    chosen.push_back(token);
    sequence.emit(seen.first_row + last, token);
    if (i + 1 == count) break;
    step.add(token, text_label(static_cast<int>(prompt.size()) + i), Origin::chosen,
             seen.first_row + last);
  }
  sequence.finish();
}

struct Loop {
  TinyNetwork network{"llama", 1, {{"max_position_embeddings", 64}}};
  Model model = network.load(Dtype::fp32);
  SteadyClock clock;
  Engine engine{model, clock};
  std::map<int, Tokens> told;  // by job
  std::vector<std::string> log;

  Loop() {
    engine.set_listener([this](const Event& event) {
      if (const auto* token = std::get_if<TokenEvent>(&event))
        told[token->job].push_back(token->token);
      if (const auto* began = std::get_if<StreamBegan>(&event))
        log.push_back(str(began->job, " began ", began->request, " after ", began->before.size()));
      if (const auto* end = std::get_if<Ended>(&event))
        log.push_back(str(end->job, end->error ? " failed" : " ended"));
    });
  }
  Tokens alone(const Tokens& prompt, int count) {
    Tokens chosen;
    Engine fresh(model, clock);
    fresh.run(
        1, 1, [&](int) { return greedy_job(fresh, "alone", prompt, count, chosen); },
        [](const Ended& end) { end.rethrow(); });
    return chosen;
  }
  void drain() {
    while (!engine.idle()) engine.step();
  }
};

}  // namespace

TEST_CASE("jobs that arrive between passes answer as if alone, and events report their tokens") {
  Loop f;
  CHECK(f.engine.idle());
  f.engine.step();  // nothing to do
  std::vector<Tokens> chosen(3);
  CHECK(f.engine.submit(greedy_job(f.engine, "a", {5, 6, 7}, 6, chosen[0])) == 0);
  f.engine.step();
  f.engine.step();
  CHECK(f.engine.submit(greedy_job(f.engine, "b", {8, 9}, 2, chosen[1])) == 1);
  f.engine.step();
  CHECK(chosen[0].size() == 3);
  CHECK(chosen[1].size() == 1);
  f.drain();
  CHECK(f.engine.submit(greedy_job(f.engine, "c", {8, 9}, 3, chosen[2])) == 2);
  f.drain();
  CHECK(chosen[0] == f.alone({5, 6, 7}, 6));
  CHECK(chosen[1] == f.alone({8, 9}, 2));
  CHECK(chosen[2] == f.alone({8, 9}, 3));
  for (int job = 0; job < 3; ++job) CHECK(f.told[job] == chosen[static_cast<size_t>(job)]);
  CHECK(f.log == std::vector<std::string>{"0 began a after 3", "1 began b after 2", "1 ended",
                                          "0 ended", "2 began c after 2", "2 ended"});
}

TEST_CASE(
    "a cancelled job is not reported any more and leaves no row; others continue as if alone") {
  Loop f;
  Tokens kept, gone;
  f.engine.set_cache_budget({.blocks = 4, .block_rows = 16});
  f.engine.submit(greedy_job(f.engine, "gone", Tokens(40, 3), 20, gone));
  f.engine.step();
  f.engine.step();
  // There is no room for it while the other job holds three of four blocks.
  f.engine.submit(greedy_job(f.engine, "kept", Tokens(20, 4), 4, kept));
  f.engine.step();
  CHECK(kept.empty());
  f.engine.cancel(0);
  f.engine.cancel(0);   // already over
  f.engine.cancel(77);  // never existed
  const size_t until_then = gone.size();
  f.drain();
  CHECK(gone.size() == until_then);
  CHECK(kept == f.alone(Tokens(20, 4), 4));
  CHECK(std::count(f.log.begin(), f.log.end(), "0 ended") == 0);
  CHECK(f.log.back() == "1 ended");
}

TEST_CASE("a listener may submit jobs, and cancel them, also the job that is reported") {
  Loop f;
  Tokens first, second;
  const auto listener = [&](const Event& event) {
    const auto* token = std::get_if<TokenEvent>(&event);
    if (!token || token->job != 0) return;
    f.engine.cancel(0);
    f.engine.submit(greedy_job(f.engine, "second", {8, 9}, 2, second));
  };
  f.engine.set_listener(listener);
  f.engine.submit(greedy_job(f.engine, "first", {5, 6, 7}, 9, first));
  f.drain();
  CHECK(first.size() == 1);
  CHECK(second == f.alone({8, 9}, 2));
}

TEST_CASE("a job that fails is reported with its error, and the others finish") {
  Loop f;
  Tokens well, failing;
  std::string error;
  f.engine.set_listener([&](const Event& event) {
    const auto* end = std::get_if<Ended>(&event);
    if (!end || end->job != 0) return;
    try {
      end->rethrow();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
  });
  f.engine.submit(greedy_job(f.engine, "bad", {1, 2}, 5, failing, 2));
  f.engine.submit(greedy_job(f.engine, "well", {5, 6, 7}, 6, well));
  f.drain();
  CHECK(error == "bad fails");
  CHECK(failing.size() == 2);
  CHECK(well == f.alone({5, 6, 7}, 6));
}

TEST_CASE(
    "a closed run needs an idle engine, and leaves an idle engine also when it is interrupted") {
  Loop f;
  Tokens chosen;
  f.engine.submit(greedy_job(f.engine, "a", {5, 6, 7}, 2, chosen));
  const auto start = [&](int) { return greedy_job(f.engine, "run", {8, 9}, 2, chosen); };
  CHECK_THROWS_AS(f.engine.run(1, 1, start, [](const Ended&) {}), std::logic_error);
  f.drain();
  CHECK_THROWS_WITH(
      f.engine.run(3, 3, start, [](const Ended&) { throw std::runtime_error("full"); }), "full");
  CHECK(f.engine.idle());
  chosen.clear();
  f.engine.run(1, 1, start, [](const Ended& end) { end.rethrow(); });
  CHECK(chosen == f.alone({8, 9}, 2));
}

TEST_CASE("an end is not chosen before a job's least length, and other jobs are as alone") {
  Loop loop;
  const Tokens prompt{3, 1, 4};
  const Tokens alone = loop.alone(prompt, 6);
  Tokens held, free;
  const Token end = alone.front();
  const int job = loop.engine.submit(greedy_job(loop.engine, "held", prompt, 6, held), {3, {end}});
  loop.engine.submit(greedy_job(loop.engine, "free", prompt, 6, free));
  while (!loop.engine.idle()) loop.engine.step();
  CHECK(free == alone);
  REQUIRE(held.size() == 6);
  CHECK(std::find(held.begin(), held.begin() + 3, end) == held.begin() + 3);
  CHECK(loop.told[job] == held);
  // After that, the end may be chosen again: the same as for a prompt with the first three tokens.
  Tokens longer = prompt;
  longer.insert(longer.end(), held.begin(), held.begin() + 3);
  CHECK(Tokens(held.begin() + 3, held.end()) == loop.alone(longer, 3));
}

TEST_CASE("the rows in the cache are those of the open sequences") {
  Loop loop;
  Tokens chosen;
  CHECK(loop.engine.held_rows() == 0);
  loop.engine.submit(greedy_job(loop.engine, "a", {3, 1, 4}, 6, chosen));
  loop.engine.step();
  CHECK(loop.engine.held_rows() == 3);
  loop.engine.step();
  CHECK(loop.engine.held_rows() == 4);
  CHECK(loop.engine.held_blocks() == 0);  // no limit
  while (!loop.engine.idle()) loop.engine.step();
  CHECK(loop.engine.held_rows() == 0);
}
