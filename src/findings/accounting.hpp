#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "src/store/figures.hpp"

namespace pardec {

/// Measures from papers, for one arm on one dataset, computed from the counters of the run.
/// `parallelism` and `attention_accesses` leave out jobs with an error.
struct ArmAccount {
  RunSummary run;
  double parallelism;  ///< generated tokens per forward pass; NaN: no forward passes
  /// memory accesses of attention, as the IPPD paper counts them (appendix A.2): number of queries
  /// plus number of cached rows, summed over passes and sequences
  std::int64_t attention_accesses;
  /// Number of padding tokens that an implementation with padded batches would compute (HPD paper,
  /// 4.3.6; see pad_columns). The run's jobs, in order, are divided into batches of the run's batch
  /// size. The last batch may be smaller.
  std::int64_t pads;
  /// Price of 1,000 examples in US dollars. For a service: computed from UsdPrices::service_million
  /// and the tokens and answers of the jobs without an error. For any other
  /// arm: computed from UsdPrices::machine_hour and the time of the measured blocks (HPD paper,
  /// Table 1). None: the price that this arm needs is not set. NaN: nothing was measured.
  std::optional<double> usd_per_thousand;
};

/// Prices in US dollars; none: not known.
struct UsdPrices {
  std::optional<double> machine_hour;  ///< price of an hour of the machine that decodes
  /// (price of a million prompt tokens, price of a million generated tokens) of a service
  std::optional<std::pair<double, double>> service_million;
};

/// One account for each run in `figures`, in the same order.
std::vector<ArmAccount> accounts_of(const Figures& figures, const UsdPrices& prices);

}  // namespace pardec
