#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "src/store/figures.hpp"

namespace pardec {

/// What one arm of an invocation fed, chose and cached, with the papers' own counts.
struct ArmAccount {
  RunSummary run;
  double parallelism;               ///< chosen ids a forward pass; NaN without any
  std::int64_t attention_accesses;  ///< queries and cached rows of every pass (IPPD, appendix A.2)
  std::int64_t pads;                ///< dummy tokens that a padded batch would have fed
  std::optional<double> usd_per_thousand;  ///< price of 1,000 examples
};

/// `usd_per_hour`: of the device; none: no price.
std::vector<ArmAccount> accounts_of(const Figures& figures, std::optional<double> usd_per_hour);

}  // namespace pardec
