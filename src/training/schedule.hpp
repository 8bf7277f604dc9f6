#pragma once
#include <cstdint>

namespace pardec {

/// The learning rate over a training run: linear warm-up, then half a cosine down to `floor`.
struct Schedule {
  double peak = 1e-3;
  double floor = 0;         ///< share of `peak` at the end
  std::int64_t warmup = 0;  ///< number of updates with a rising rate
  std::int64_t steps = 1;   ///< number of updates of the run

  /// The rate of update `step`, counted from 0: peak * (step + 1) / warmup while step < warmup,
  /// then peak * (floor + (1 - floor) * (1 + cos(pi * x)) / 2) with x = (step - warmup) / (steps -
  /// warmup), at most 1.
  double rate(std::int64_t step) const;
};

}  // namespace pardec
