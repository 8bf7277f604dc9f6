#pragma once
#include <string>
#include <vector>

#include "src/findings/headlines.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The recommendation for one dataset, as text.
struct Recommendation {
  std::string dataset;
  std::string take;  ///< label of the recommended arm; empty: no arm is shown to be better
  /// "take hpd: 4.81 times as fast as ar [4.50, 5.15], ..."; if no arm is recommended, "stay with
  /// ar: ..." or, if most answers of all baselines are broken, "no decision: ..."
  std::string said;
  /// "Not decided: ...": the arms without a decision, and what would decide it; may be empty
  std::string undecided;
  std::string against;  ///< "Ruled out: ...": see ArmStanding::is_ruled_out(); may be empty

  /// The complete text. It begins with the conditions: the compared arms, this machine, the
  /// dataset.
  std::string text() const;
};

/// One recommendation for each headline (headlines_of), in the same order. results/table.md
/// explains the rule.
std::vector<Recommendation> recommendations(const Comparison& comparison);

/// The verdict on an arm's answers, compared with its baseline's: "same answers", "not worse",
/// "worse", "open", "forced", "no score", "untrained" or "broken" (QualityShown). Empty: the arm
/// has no baseline.
std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm);
/// The text of verdict_word. An open verdict also says how many examples would decide it, if this
/// number is known (ScoreFinding::would_do): "open: needs about 75 in all". "-": the arm has no
/// baseline.
std::string verdict_text(const Comparison& comparison, const ArmFinding& arm);
/// The tone of a cell with this verdict.
Tone verdict_tone(QualityShown quality);

}  // namespace pardec
