#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The fastest arm of a dataset among its baselines and those that are shown not to answer worse
/// than theirs (quality_shown), by the seconds of each two on the blocks that both did.
struct BestCell {
  /// Another one of them that the blocks do not tell apart from it.
  struct Tie {
    const ArmFinding* arm;
    Interval ratio;  ///< its seconds over the best one's; without ends over too few blocks
  };
  std::string dataset;
  const ArmFinding* best;
  std::vector<Tie> ties;  ///< the nearest first
  /// Arms whose answers are not decided, and that no slower interval rules out.
  std::vector<const ArmFinding*> undecided;
};

/// One of each dataset that has such an arm. The comparison, which is of `measured`, outlives them.
std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison);

}  // namespace pardec
