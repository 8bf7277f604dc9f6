#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The evidence about an arm's speed relative to its baseline's.
enum class SpeedShown {
  faster,   ///< the speedup's interval lies above 1
  slower,   ///< the interval lies below 1
  open,     ///< the interval contains 1
  unknown,  ///< there is no interval
};
SpeedShown speed_shown(const ArmFinding& arm);

/// The evidence about the quality of an arm's answers relative to its baseline's.
enum class QualityShown {
  same,       ///< all answers equal the baseline's, as they must by construction, and none failed
  not_worse,  ///< by the first score of its dataset, at the comparison's margin
  worse,
  open,      ///< the score's interval allows both
  unknown,   ///< there is no score, or the tokens were forced
  noise,     ///< the network of one of the two is untrained
  broken,    ///< most answers of one of the two are unusable
  baseline,  ///< the arm has no baseline
};
QualityShown quality_shown(const Overview& comparison, const ArmFinding& arm);

/// The score that quality_shown is based on; null: there is none.
const ScoreFinding* first_score(const ArmFinding& arm);

/// An arm with a baseline, and the evidence about it.
struct ArmStanding {
  const ArmFinding* arm;
  SpeedShown speed;
  QualityShown quality;

  /// Whether the arm is shown to be faster and not worse.
  bool is_shown() const;
  /// Whether it is not faster, or worse, or broken, so that more examples would not change the
  /// recommendation.
  bool is_ruled_out() const;
};

/// The main result on one dataset.
struct Headline {
  std::string dataset;
  const ArmFinding* best = nullptr;  ///< the fastest arm with is_shown(); null: there is none
  /// other arms with is_shown(), whose interval overlaps the best arm's
  std::vector<const ArmFinding*> ties;
  std::vector<ArmStanding> arms;  ///< all arms except the best, in the order of the comparison
};

/// Headlines of the datasets on which an arm has a baseline that is another decoder or uses the
/// same network. `comparison` must outlive the result.
std::vector<Headline> headlines_of(const Overview& comparison);

}  // namespace pardec
