#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// What is said first of one dataset: its fastest arm that may be believed and is not shown to
/// answer worse than its baseline.
struct Headline {
  std::string dataset;
  const ArmFinding* best = nullptr;  ///< null: there is none, since
  std::vector<std::string> broken;   ///< most answers of these arms are none,
  bool worse = false;                ///< or others answer worse, or no block was measured
};

/// Whether the score that its dataset is judged by first was shown to be below the baseline's, or
/// is that of noise.
bool shown_worse(const ArmFinding& arm, const ArmFinding& baseline);

/// Of each dataset on which some arm has a baseline that is another decoder or runs on the same
/// network. The comparison outlives them.
std::vector<Headline> headlines_of(const Comparison& comparison);

}  // namespace pardec
