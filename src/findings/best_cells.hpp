#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The fastest arm of a dataset among those that may be believed and were not shown to answer worse
/// than their baseline, by the seconds of each two on the blocks that both did.
struct BestCell {
  /// Another one of them that the blocks do not tell apart from it.
  struct Tie {
    const ArmFinding* arm;
    Interval ratio;  ///< its seconds over the best one's; without ends over too few blocks
  };
  std::string dataset;
  const ArmFinding* best;
  std::vector<Tie> ties;  ///< the nearest first
};

/// One of each dataset that has such an arm. The comparison, which is of `measured`, outlives them.
std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison);

}  // namespace pardec
