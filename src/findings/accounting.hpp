#pragma once
#include <cstdint>
#include <optional>
#include <utility>
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
  /// Price of 1,000 examples in US dollars. Of an arm that a service answered: from the tokens of
  /// all its jobs. Of any other arm: from the time of the measured blocks. None: the price is not
  /// known; NaN: nothing was measured.
  std::optional<double> usd_per_thousand;
};

/// Prices in US dollars; none: not known.
struct UsdPrices {
  std::optional<double> machine_hour;  ///< an hour of the machine or device that decodes
  /// a million prompt tokens and a million generated tokens of a service
  std::optional<std::pair<double, double>> service_million;
};

/// One account per run in `figures`, in the same order.
std::vector<ArmAccount> accounts_of(const Figures& figures, const UsdPrices& prices);

}  // namespace pardec
