#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The fastest arm of a dataset among its baselines and the arms whose answers are shown to be not
/// worse than their baseline's (quality_shown). Two arms are compared by their time on the blocks
/// that both have.
struct BestCell {
  /// Another such arm whose time does not differ significantly.
  struct Tie {
    const ArmFinding* arm;
    /// its time divided by the best arm's; without ends if there are too few blocks
    Interval ratio;
  };
  std::string dataset;
  const ArmFinding* best;
  std::vector<Tie> ties;  ///< the nearest first
  /// Arms whose answers are undecided, and that may be as fast as the best arm according to their
  /// interval.
  std::vector<const ArmFinding*> undecided;
};

/// One entry for each dataset for which such an arm (BestCell::best) exists. `comparison` must be
/// based on `measured`, and must outlive the cells.
std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison);

}  // namespace pardec
