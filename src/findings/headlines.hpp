#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// What is shown of an arm's speed beside its baseline's.
enum class SpeedShown {
  faster,   ///< the speedup's interval lies above 1
  slower,   ///< below 1
  open,     ///< it holds 1
  unknown,  ///< there is no interval
};
SpeedShown speed_shown(const ArmFinding& arm);

/// What is shown of an arm's answers beside its baseline's.
enum class QualityShown {
  same,       ///< the decoder gives the baseline's answers, and did; none failed
  not_worse,  ///< by the first score of its dataset, at the comparison's margin
  worse,
  open,      ///< the score's interval says neither
  unknown,   ///< there is no score, or the tokens were forced
  noise,     ///< the network of one of the two is untrained
  broken,    ///< most answers of one of the two are none
  baseline,  ///< it is compared with nothing
};
QualityShown quality_shown(const Overview& comparison, const ArmFinding& arm);

/// The score that quality_shown goes by; null: there is none.
const ScoreFinding* first_score(const ArmFinding& arm);

/// An arm that has a baseline, and what is shown of it.
struct ArmStanding {
  const ArmFinding* arm;
  SpeedShown speed;
  QualityShown quality;

  /// Faster, and not worse.
  bool is_shown() const;
  /// Not faster, or worse, or broken: more examples would not make it the one to take.
  bool is_ruled_out() const;
};

/// What can be said first of one dataset.
struct Headline {
  std::string dataset;
  const ArmFinding* best = nullptr;     ///< the fastest that is_shown; null: none is
  std::vector<const ArmFinding*> ties;  ///< shown as well, with an interval that meets the best's
  std::vector<ArmStanding> arms;        ///< all but the best, in the order of the comparison
};

/// Of each dataset on which some arm has a baseline that is another decoder or runs on the same
/// network. The comparison outlives them.
std::vector<Headline> headlines_of(const Overview& comparison);

}  // namespace pardec
