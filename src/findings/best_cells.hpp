#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The best arm of a dataset: the fastest of its candidates. Candidates are the arms without a
/// baseline, and the arms whose answers are shown to be the same as the baseline's, or not worse
/// (quality_shown). Broken arms and arms without measured blocks are not candidates. Two arms are
/// compared by their times on the blocks that were measured for both arms (speedup_of).
struct BestCell {
  /// Another candidate with a time that is not shown to be longer than the best arm's.
  struct Tie {
    const ArmFinding* arm;
    /// time of `arm` divided by the best arm's time; the ends are NaN if both arms measured fewer
    /// than kFewestBlocks blocks in common
    Interval ratio;
  };
  std::string dataset;
  const ArmFinding* best;
  /// the smallest ratio first; candidates without a block in common with the best arm are left out
  std::vector<Tie> ties;
  int slower = 0;  ///< number of other candidates whose time is shown to be longer
  /// Arms that more examples might show to be the best: it is undecided whether the answers of such
  /// an arm are worse than the baseline's (QualityShown::open or unknown), and its time is not
  /// shown to be longer than the best arm's.
  std::vector<const ArmFinding*> undecided;
};

/// The best cell of each dataset with candidates. REQUIRES: `comparison` was computed from
/// `measured`, and outlives the result.
std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison);

}  // namespace pardec
