#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "src/store/figures.hpp"

namespace pardec {

/// Measures from papers, for one arm on one dataset. They are computed from the counters of the
/// run. `parallelism` and `attention_accesses` leave out jobs with an error.
struct ArmAccount {
  RunSummary run;
  double parallelism;  ///< generated tokens per forward pass; NaN: no forward passes
  /// memory accesses of attention, as the IPPD paper counts them (appendix A.2): number of queries
  /// plus number of cached rows, summed over passes and sequences
  std::int64_t attention_accesses;
  /// Number of padding tokens that an implementation with padded batches would compute (HPD paper,
  /// 4.3.6; see pad_columns). A batch has as many consecutive jobs as the run's batch size.
  std::int64_t pads;
  /// price of 1,000 examples in US dollars, from the measured blocks (HPD paper, Table 1); none:
  /// the price of the machine is not known; NaN: no block was measured
  std::optional<double> usd_per_thousand;
};

/// One account for each run in `figures`, in the same order. `usd_per_hour`: price of the machine
/// for one hour in US dollars; none: not known.
std::vector<ArmAccount> accounts_of(const Figures& figures, std::optional<double> usd_per_hour);

}  // namespace pardec
