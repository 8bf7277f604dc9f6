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
  unknown,  ///< there is no interval, e.g. because the arm has no baseline
};

SpeedShown speed_shown(const ArmFinding& arm);

/// The evidence about the quality of an arm's answers relative to its baseline's.
enum class QualityShown {
  same,       ///< all answers equal the baseline's, as they must by construction; none failed
  not_worse,  ///< by first_score(), with the comparison's margin (ScoreFinding::verdict)
  worse,      ///< by the same score and margin
  open,       ///< neither `not_worse` nor `worse` is shown (ScoreFinding::Verdict::open)
  unknown,    ///< there is no difference of scores, or the arm has an oracle
  noise,      ///< the network of the arm or of its baseline is untrained, so answers are noise
  broken,     ///< most answers of the arm or of its baseline are unusable
  baseline,   ///< the arm has no baseline
};
/// `comparison`: the comparison to which `arm` belongs.
QualityShown quality_shown(const Overview& comparison, const ArmFinding& arm);

/// The score that quality_shown is based on (headline_score); null: there is none.
const ScoreFinding* first_score(const ArmFinding& arm);

/// An arm that has a baseline, and the evidence about its speed and quality.
struct ArmStanding {
  const ArmFinding* arm;
  SpeedShown speed;
  QualityShown quality;

  /// Whether the arm is shown to be faster, with answers that are the same or not worse.
  bool is_shown() const;
  /// Whether the arm is shown to be slower (SpeedShown::slower), or its quality is `worse`, `noise`
  /// or `broken`. More examples would not lead to a recommendation of such an arm.
  bool is_ruled_out() const;
};

/// The main result on one dataset.
struct Headline {
  std::string dataset;
  /// The fastest arm with is_shown(); null: there is no such arm. Arms with the same baseline are
  /// compared by speedup, other arms by examples per second.
  const ArmFinding* best = nullptr;
  /// the other arms that have is_shown(), the same baseline as the best arm, and a speedup interval
  /// that overlaps the best arm's interval
  std::vector<const ArmFinding*> ties;
  /// all arms that take part (see headlines_of) except the best, in the order of the comparison
  std::vector<ArmStanding> arms;
};

/// One headline for each dataset. An arm takes part if it has a baseline. There are two exceptions:
/// an arm that runs the baseline's decoder on another network, and an arm that a service answers.
/// These arms do not take part, because more than the decoder differs. Datasets on which no arm
/// takes part have no headline. REQUIRES: `comparison` outlives the result.
std::vector<Headline> headlines_of(const Overview& comparison);

}  // namespace pardec
