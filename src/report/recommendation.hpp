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
  /// "take hpd: 4.81 times as fast as ar [4.50, 5.15], ..."; without a recommended arm "stay with
  /// ar: ..." or "no decision: ..."
  std::string said;
  std::string undecided;  ///< "Not decided: ...": arms without a decision; may be empty
  std::string against;    ///< "Ruled out: ...": ArmStanding::is_ruled_out(); may be empty

  /// The complete text, beginning with its conditions.
  std::string text() const;
};

/// One recommendation per headline (headlines_of), in the same order.
std::vector<Recommendation> recommendations(const Comparison& comparison);

/// The verdict on an arm's answers, compared with its baseline's: "same answers", "not worse",
/// "worse", "open", "forced", "no score", "untrained" or "broken" (QualityShown). Empty: the arm
/// has no baseline.
std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm);
/// The text of verdict_word. An open verdict also says, if this is known, how many examples would
/// decide it: "open: needs about 75 in all". "-": the arm has no baseline.
std::string verdict_text(const Comparison& comparison, const ArmFinding& arm);
/// The tone of a cell with this verdict.
Tone verdict_tone(QualityShown quality);

}  // namespace pardec
