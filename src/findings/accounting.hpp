#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "src/store/figures.hpp"

namespace pardec {

/// Tokens computed, generated and cached by one arm of an invocation, with the measures that the
/// papers use.
struct ArmAccount {
  RunSummary run;
  double parallelism;  ///< generated tokens per forward pass; NaN: no forward passes
  /// queries and cached rows, summed over passes (IPPD, appendix A.2)
  std::int64_t attention_accesses;
  std::int64_t pads;                       ///< dummy tokens that a padded batch would have needed
  std::optional<double> usd_per_thousand;  ///< price of 1,000 examples
};

/// `usd_per_hour`: price of the device; none: not known.
std::vector<ArmAccount> accounts_of(const Figures& figures, std::optional<double> usd_per_hour);

}  // namespace pardec
