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
  same,       ///< by construction, all answers must equal the baseline's; they do, and none failed
  not_worse,  ///< by the first score of the dataset, with the comparison's margin
  worse,
  open,      ///< the interval of the difference allows both
  unknown,   ///< there is no score, or the tokens were forced
  noise,     ///< the network of the arm or of its baseline is untrained
  broken,    ///< most answers of the arm or of its baseline are unusable
  baseline,  ///< the arm has no baseline
};
QualityShown quality_shown(const Overview& comparison, const ArmFinding& arm);

/// The score that quality_shown is based on; null: there is none.
const ScoreFinding* first_score(const ArmFinding& arm);

/// An arm that has a baseline, and the evidence about its speed and quality.
struct ArmStanding {
  const ArmFinding* arm;
  SpeedShown speed;
  QualityShown quality;

  /// Whether the arm is shown to be faster and not worse.
  bool is_shown() const;
  /// Whether more examples would not change the recommendation, because the arm is slower, is
  /// worse, is broken, or has an untrained network.
  bool is_ruled_out() const;
};

/// The main result on one dataset.
struct Headline {
  std::string dataset;
  const ArmFinding* best = nullptr;  ///< the fastest arm with is_shown(); null: no arm has it
  /// other arms with is_shown(), the same baseline, and a speedup interval that overlaps the best
  /// arm's
  std::vector<const ArmFinding*> ties;
  /// all arms that take part except the best, in the order of the comparison
  std::vector<ArmStanding> arms;
};

/// One headline per dataset. An arm takes part if it has a baseline, and if the baseline has
/// another decoder or the same network. Arms that are services do not take part. Datasets on which
/// no arm takes part have no headline. `comparison` must outlive the result.
std::vector<Headline> headlines_of(const Overview& comparison);

}  // namespace pardec
