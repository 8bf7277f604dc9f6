#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The best arm of a dataset: the fastest of its candidates. Candidates are the baselines and the
/// arms with answers that are shown to be the same as, or not worse than, the baseline's
/// (quality_shown). Broken arms and arms without measured blocks are not candidates. Two arms are
/// compared by their times on the blocks that both answered.
struct BestCell {
  /// Another candidate with a time that is not shown to be longer than the best arm's.
  struct Tie {
    const ArmFinding* arm;
    /// its time divided by the best arm's; the ends are NaN if there are too few blocks
    Interval ratio;
  };
  std::string dataset;
  const ArmFinding* best;
  std::vector<Tie> ties;  ///< the smallest ratio first
  int slower = 0;         ///< number of other candidates whose time is shown to be longer
  /// Arms that may be as fast as the best arm according to their interval, while it is undecided
  /// whether their answers are worse.
  std::vector<const ArmFinding*> undecided;
};

/// The best cell of each dataset that has one. REQUIRES: `comparison` was computed from `measured`,
/// and outlives the result.
std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison);

}  // namespace pardec
