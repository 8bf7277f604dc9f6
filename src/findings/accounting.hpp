#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "src/store/figures.hpp"

namespace pardec {

/// The tokens that one arm of an invocation computed, generated and cached on one dataset, with the
/// measures that the papers use.
struct ArmAccount {
  RunSummary run;
  double parallelism;  ///< generated tokens per forward pass; NaN: no forward passes
  /// number of queries plus number of cached rows, summed over passes (IPPD, appendix A.2)
  std::int64_t attention_accesses;
  /// number of padding tokens that would be needed if jobs were decoded in padded batches of the
  /// run's batch size (pad_columns)
  std::int64_t pads;
  /// price of 1,000 examples in US dollars, from the measured blocks; none: the price of the
  /// machine is not known; NaN: no block was measured
  std::optional<double> usd_per_thousand;
};

/// One account per run in `figures`, in the same order. `usd_per_hour`: price of the machine in US
/// dollars; none: not known.
std::vector<ArmAccount> accounts_of(const Figures& figures, std::optional<double> usd_per_hour);

}  // namespace pardec
