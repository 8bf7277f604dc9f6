#pragma once
#include <cstdint>
#include <optional>
#include <utility>
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
  /// Price of 1,000 examples in US dollars. Of an arm that a service answered: from the tokens of
  /// all its jobs. Of any other arm: from the time of the measured blocks (HPD paper, Table 1).
  /// None: the price is not known; NaN: nothing was measured.
  std::optional<double> usd_per_thousand;
};

/// Prices in US dollars; none: not known.
struct UsdPrices {
  std::optional<double> machine_hour;  ///< an hour of the machine or device that decodes
  /// a million prompt tokens and a million generated tokens of a service
  std::optional<std::pair<double, double>> service_million;
};

/// One account for each run in `figures`, in the same order.
std::vector<ArmAccount> accounts_of(const Figures& figures, const UsdPrices& prices);

}  // namespace pardec
