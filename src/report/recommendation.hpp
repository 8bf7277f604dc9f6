#pragma once
#include <string>
#include <vector>

#include "src/findings/headlines.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// Which arm to take on one dataset, in words.
struct Recommendation {
  std::string dataset;
  std::string take;       ///< label of the arm; empty: nothing is shown
  std::string said;       ///< "take hpd: 4.81 times as fast as ar [4.50, 5.15], ..."
  std::string undecided;  ///< "Not decided: ..."; may be empty
  std::string against;    ///< "Ruled out: ..."; may be empty

  /// All of it in one text, which begins with what it is said of.
  std::string text() const;
};

/// Of each dataset that has a headline, or an arm that might have one.
std::vector<Recommendation> recommendations(const Comparison& comparison);

/// The verdict on an arm's answers: "not worse", "open" ...; empty where it has no baseline.
std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm);
/// The same with what would decide it: "open: about 75 would do"; "-" where it has no baseline.
std::string verdict_text(const Comparison& comparison, const ArmFinding& arm);
Tone verdict_tone(QualityShown quality);

}  // namespace pardec
