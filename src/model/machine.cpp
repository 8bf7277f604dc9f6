#include "src/model/machine.hpp"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "src/kernels/team.hpp"
#include "src/kernels/weight_memory.hpp"
#include "src/model/device.hpp"
#include "src/model/network.hpp"

namespace pardec {

namespace {

constexpr int kRepeats = 5;
constexpr std::int64_t kWords = std::int64_t{32} << 20;  // words of 8 bytes: 256 MiB

/// Seconds of the fastest run, after one warm-up run.
template <typename Run>
double fastest(Run&& run) {
  run();
  double best = 1e300;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

MachineSpeed measure_machine(Dtype dtype) {
  WeightMemory memory(8 * kWords);  // in large pages, like weights
  auto* const words = reinterpret_cast<std::uint64_t*>(memory.take(8 * kWords));
  std::fill(words, words + kWords, std::uint64_t{1});
  std::atomic<std::uint64_t> sum{0};  // keeps the compiler from removing the reads
  const double reading = fastest([&] {
    team().run(kWords, kWords / 64, [&](int, std::int64_t begin, std::int64_t end) {
      std::uint64_t part = 0;
      for (std::int64_t i = begin; i < end; ++i) part += words[i];
      sum += part;
    });
  });

  const c10::NoGradGuard no_grad;
  constexpr std::int64_t kRows = 512, kWidth = 2048;
  const auto options = at::TensorOptions().dtype(scalar_type(dtype));
  const at::Tensor x = at::ones({kRows, kWidth}, options), w = at::ones({kWidth, kWidth}, options);
  at::set_num_threads(threads());  // team() has set it to 1
  const double computing = fastest([&] { at::linear(x, w); });
  at::set_num_threads(1);
  return {8.0 * kWords / reading, 2.0 * kRows * kWidth * kWidth / computing};
}

}  // namespace pardec
