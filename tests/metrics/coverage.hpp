#pragma once
#include <functional>
#include <string>

#include "metrics/statistics.hpp"
#include "src/support/rng.hpp"

namespace pardec::test {

/// The percentage of 2000 trials in which the interval contains `truth`. `interval`: makes the
/// interval of one trial from random data.
inline double coverage(double truth, const std::function<Interval(Rng&)>& interval) {
  constexpr int kTrials = 2000;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Rng rng(derive_seed(11, std::to_string(trial)));
    const Interval found = interval(rng);
    covered += found.low <= truth && truth <= found.high;
  }
  return 100.0 * covered / kTrials;
}

inline double width(const Interval& interval) { return interval.high - interval.low; }

}  // namespace pardec::test
