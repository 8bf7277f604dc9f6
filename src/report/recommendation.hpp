#pragma once
#include <string>
#include <vector>

#include "src/findings/headlines.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The recommendation for one dataset, as text.
struct Recommendation {
  std::string dataset;
  std::string take;       ///< label of the recommended arm; empty: no arm is shown to be better
  std::string said;       ///< "take hpd: 4.81 times as fast as ar [4.50, 5.15], ..."
  std::string undecided;  ///< "Not decided: ..."; may be empty
  std::string against;    ///< "Ruled out: ..."; may be empty

  /// The complete text, beginning with its conditions.
  std::string text() const;
};

/// One recommendation per headline (headlines_of), in the same order.
std::vector<Recommendation> recommendations(const Comparison& comparison);

/// The verdict on an arm's answers, e.g. "not worse" or "open". Empty: the arm has no baseline.
std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm);
/// The verdict as in verdict_word. An open verdict says how many examples would decide it: "open:
/// about 75 would do". "-": the arm has no baseline.
std::string verdict_text(const Comparison& comparison, const ArmFinding& arm);
/// The tone of a cell with this verdict.
Tone verdict_tone(QualityShown quality);

}  // namespace pardec
