// The cost of the engine on a checkpoint: forward passes over 1..128 new tokens, prefill, AR
// decoding, steps of many branches, the share of the time that is not spent in the network, and the
// cost of watching other programs during measured blocks.
//
//   build/release/tests/bench/pardec_bench [--model DIR] [--dtype fp32|bf16|int8|nf4] [--threads N]
//   [flags of google-benchmark]
//
// --model: by default the quickstart model. Times are wall time; run it on an idle machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>

#include "src/engine/engine.hpp"
#include "src/kernels/weight_memory.hpp"
#include "src/model/model.hpp"
#include "src/model/profile.hpp"
#include "src/model/team_meter.hpp"
#include "src/model/torch.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

constexpr int kContext = 256;  // rows in the cache before anything is measured
constexpr int kAnswer = 64;    // tokens of an AR answer
constexpr int kPrompt = 512;   // tokens of a prefill
constexpr int kDeep = 8;       // tokens that a branch gets

Tokens some_tokens(int count, const ModelConfig& config) {
  Tokens tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<Token>((i * 37) % (config.vocab_size - 16) + 16));
  return tokens;
}

std::vector<RowLabel> natural_labels(int first, int count) {
  std::vector<RowLabel> labels;
  for (int i = first; i < first + count; ++i)
    labels.push_back({.position = i, .order = i, .segment = 0, .rank = 0});
  return labels;
}

/// One forward over tokens at positions `first`, ...; the logits of only the last row.
void feed(Model& model, KvCache& cache, const Segments& segments, int first, int count) {
  const Tokens tokens = some_tokens(count, model.config());
  const std::vector<RowLabel> labels = natural_labels(first, count);
  const std::vector<OutputRequest> outputs{{.index = count - 1}};
  const SequenceStep step{&cache, &segments, tokens, labels, outputs};
  benchmark::DoNotOptimize(model.forward({&step, 1}));
}

/// A pass over n new tokens after kContext cached ones: the cost of one step of a parallel decoder.
void forward(benchmark::State& state, Model& model) {
  const auto n = static_cast<int>(state.range(0));
  const Segments segments;
  KvCache cache(model);
  feed(model, cache, segments, 0, kContext);
  for (auto _ : state) {
    feed(model, cache, segments, kContext, n);
    state.PauseTiming();
    cache.retract(cache.rows_fed() - n);
    state.ResumeTiming();
  }
  state.counters["tokens/s"] = benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate);
}

void prefill(benchmark::State& state, Model& model) {
  const Segments segments;
  for (auto _ : state) {
    KvCache cache(model);
    feed(model, cache, segments, 0, kPrompt);
  }
  state.counters["tokens/s"] =
      benchmark::Counter(kPrompt, benchmark::Counter::kIsIterationInvariantRate);
}

Task<void> answer(Engine& engine) {
  Sequence sequence = engine.open("bench", "ar");
  Step step;
  int position = 0;
  for (const Token token : some_tokens(kContext, engine.model().config())) {
    step.add(token, natural_labels(position++, 1)[0], Origin::prompt);
  }
  step.want(kContext - 1);
  StepResult seen = co_await sequence.forward(std::move(step));
  for (int i = 1; i < kAnswer; ++i) {
    Step next;
    next.add(seen.outputs[0].best, natural_labels(position++, 1)[0], Origin::chosen,
             sequence.rows_fed() - 1);
    next.want(0);
    seen = co_await sequence.forward(std::move(next));
  }
}

/// How the time of `wall_ns` was spent.
void add_shares(benchmark::State& state, const Profile& profile, std::int64_t wall_ns) {
  const auto share = [&](std::int64_t ns) {
    return 100.0 * static_cast<double>(ns) / static_cast<double>(wall_ns);
  };
  state.counters["linear_%"] = share(profile.linear_ns);
  state.counters["attention_%"] = share(profile.attention_ns);
  state.counters["rows_%"] = share(profile.rows_ns);
  state.counters["logits_%"] = share(profile.logits_ns);
  state.counters["rest_%"] = share(wall_ns - profile.sum());
}

/// Whole AR answers through the engine, `range(0)` at a time.
void ar(benchmark::State& state, Model& model) {
  const auto live = static_cast<int>(state.range(0));
  const SteadyClock clock;
  Engine engine(model, clock);
  std::int64_t decode_ns = 0;
  Profile profile;
  if (computing(model.options().dtype) == Dtype::bf16) model.set_profile(&profile);
  for (auto _ : state) {
    const std::int64_t begin = clock.now_ns();
    engine.run(
        live, live, [&](int) { return answer(engine); }, [](const Ended& end) { end.rethrow(); });
    decode_ns += clock.now_ns() - begin;
  }
  model.set_profile(nullptr);
  if (profile.sum() > 0) add_shares(state, profile, decode_ns);
  state.counters["tokens/s"] =
      benchmark::Counter(kAnswer * live, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["outside_%"] =
      100.0 * (1.0 - static_cast<double>(engine.model_ns()) / static_cast<double>(decode_ns));
}

/// One branch of a sequence: a segment that sees the prompt and itself.
Task<Token> branch(Sequence& sequence, Token token) {
  const int segment = sequence.add_segment({0});
  for (int i = 0; i < kDeep; ++i) {
    Step step;
    step.add(token, {.position = kContext + i, .order = kContext + i, .segment = segment},
             Origin::chosen);
    step.want(0);
    const StepResult seen = co_await sequence.forward(std::move(step));
    token = seen.outputs[0].best;
  }
  co_return token;
}

/// `live` branches after a prompt of kContext tokens; `begin_ns`: when that is computed.
Task<void> branches_of_one(Engine& engine, int live, std::int64_t& begin_ns) {
  Sequence sequence = engine.open("bench", "branches");
  Step prompt = prompt_step(some_tokens(kContext, engine.model().config()), 0);
  co_await sequence.forward(std::move(prompt));
  begin_ns = engine.clock().now_ns();
  std::vector<Task<Token>> tasks;
  for (int i = 0; i < live; ++i) tasks.push_back(branch(sequence, 16 + i));
  co_await all(std::move(tasks));
}

/// Steps in which each of `range(0)` live branches of one sequence gets a token, kDeep of them.
/// Time: of one such step, with all work of the engine.
void branches(benchmark::State& state, Model& model) {
  const auto live = static_cast<int>(state.range(0));
  const SteadyClock clock;
  Engine engine(model, clock);
  Profile profile;
  std::int64_t profiled_ns = 0;
  for (auto _ : state) {
    std::int64_t begin_ns = 0;
    const std::int64_t prompt_ns = clock.now_ns();
    if (computing(model.options().dtype) == Dtype::bf16) model.set_profile(&profile);
    engine.run(
        1, 1, [&](int) { return branches_of_one(engine, live, begin_ns); },
        [](const Ended& end) { end.rethrow(); });
    const std::int64_t end_ns = clock.now_ns();
    profiled_ns += end_ns - prompt_ns;
    state.SetIterationTime(static_cast<double>(end_ns - begin_ns) * 1e-9 / kDeep);
  }
  model.set_profile(nullptr);
  if (profile.sum() > 0) add_shares(state, profile, profiled_ns);
  state.counters["tokens/s"] =
      benchmark::Counter(live, benchmark::Counter::kIsIterationInvariantRate);
}

/// Adds up the values of a piece of memory, on all threads.
std::uint64_t read_all(std::span<const std::uint16_t> memory) {
  std::atomic<std::uint64_t> sum = 0;
  team().run(std::ssize(memory), 1, [&](int, std::int64_t begin, std::int64_t end) {
    std::uint16_t part = 0;
    for (std::int64_t i = begin; i < end; ++i) part ^= memory[static_cast<size_t>(i)];
    sum += part;
  });
  return sum;
}

/// The cost that `run` adds to a block of an arm, to report afterwards which programs used the
/// machine.
void guard(benchmark::State& state, Model& /*the threads are there*/) {
  for (auto _ : state) {
    const TeamMeter meter;
    benchmark::DoNotOptimize(meter.read());
  }
}

/// Steps of one token. Between them, memory as large as the weights is read: a step cannot take
/// less time than that. (They alternate, since the bandwidth of a shared machine changes from
/// second to second.) Time: of the steps.
void roofline(benchmark::State& state, Model& model) {
  const SteadyClock clock;
  const Segments segments;
  KvCache cache(model);
  feed(model, cache, segments, 0, kContext);
  WeightMemory weights(
      WeightMemory::taken(model.weight_bytes()));  // in large pages, like the network's weights
  const std::span memory(reinterpret_cast<std::uint16_t*>(weights.take(model.weight_bytes())),
                         static_cast<size_t>(model.weight_bytes() / 2));
  std::fill(memory.begin(), memory.end(), std::uint16_t{1});
  std::vector<double> ratios;
  double best = 1e30;
  Profile profile;
  if (computing(model.options().dtype) == Dtype::bf16) model.set_profile(&profile);
  std::int64_t steps_ns = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const std::int64_t begin = clock.now_ns();
    benchmark::DoNotOptimize(read_all(memory));
    const std::int64_t middle = clock.now_ns();
    state.ResumeTiming();
    feed(model, cache, segments, kContext, 1);
    const std::int64_t end = clock.now_ns();
    steps_ns += end - middle;
    ratios.push_back(static_cast<double>(middle - begin) / static_cast<double>(end - middle));
    best = std::min(best, static_cast<double>(middle - begin));
    state.PauseTiming();
    cache.retract(cache.rows_fed() - 1);
    state.ResumeTiming();
  }
  model.set_profile(nullptr);
  std::sort(ratios.begin(), ratios.end());
  state.counters["read_GB/s"] = static_cast<double>(model.weight_bytes()) / best;
  state.counters["of_roofline"] = ratios[ratios.size() / 2];
  if (profile.sum() > 0) add_shares(state, profile, steps_ns);
}

/// Removes `--name VALUE` from the arguments.
std::string take(std::vector<char*>& args, const std::string& name, const std::string& otherwise) {
  for (size_t i = 1; i + 1 < args.size(); ++i)
    if (name == args[i]) {
      const std::string value = args[i + 1];
      args.erase(args.begin() + static_cast<std::ptrdiff_t>(i),
                 args.begin() + static_cast<std::ptrdiff_t>(i) + 2);
      return value;
    }
  return otherwise;
}

int run(int argc, char** argv) {
  std::vector<char*> args(argv, argv + argc);
  const std::string folder =
      take(args, "--model", std::string(PARDEC_SOURCE_DIR) + "/experiments/quickstart/model");
  const Dtype dtype = parse_dtype(take(args, "--dtype", "bf16"));
  set_threads(std::atoi(take(args, "--threads", "0").c_str()));
  int count = static_cast<int>(args.size());
  benchmark::Initialize(&count, args.data());
  if (benchmark::ReportUnrecognizedArguments(count, args.data())) return 2;

  Model model = Model::load(folder, {.dtype = dtype});
  const std::string kind = str("/", name(dtype), "/threads:", threads());
  const auto add = [&](const std::string& what, void (*measure)(benchmark::State&, Model&)) {
    return benchmark::RegisterBenchmark(
               (what + kind).c_str(),
               [&model, measure](benchmark::State& state) { measure(state, model); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  auto* steps = add("forward", forward)->ArgName("new");
  for (int n = 1; n <= 128; n *= 2) steps->Arg(n);
  add("guard", guard);
  add("roofline", roofline);
  add("prefill_512", prefill);
  auto* answers = add("ar", ar)->ArgName("live");
  for (const int live : {1, 8, 16, 32}) answers->Arg(live);
  const std::string of_branches = "branches" + kind;
  benchmark::RegisterBenchmark(of_branches.c_str(),
                               [&model](benchmark::State& state) { branches(state, model); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->ArgName("live")
      ->Arg(100)
      ->Arg(1000);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace pardec

int main(int argc, char** argv) {
  try {
    return pardec::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "pardec_bench: " << error.what() << "\n";
    return 1;
  }
}
