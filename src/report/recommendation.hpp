#pragma once
#include <string>
#include <vector>

#include "src/findings/headlines.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// A recommendation of an arm on one dataset, in words.
struct Recommendation {
  std::string dataset;
  std::string take;       ///< label of the arm; empty: no arm is shown to be better
  std::string said;       ///< "take hpd: 4.81 times as fast as ar [4.50, 5.15], ..."
  std::string undecided;  ///< "Not decided: ..."; may be empty
  std::string against;    ///< "Ruled out: ..."; may be empty

  /// The complete text, beginning with its conditions.
  std::string text() const;
};

/// One for each headline (headlines_of), in their order.
std::vector<Recommendation> recommendations(const Comparison& comparison);

/// The verdict on an arm's answers: "not worse", "open" ...; empty: it has no baseline.
std::string_view verdict_word(const Comparison& comparison, const ArmFinding& arm);
/// The verdict, with what would decide an open one: "open: about 75 would do"; "-": it has no
/// baseline.
std::string verdict_text(const Comparison& comparison, const ArmFinding& arm);
Tone verdict_tone(QualityShown quality);

}  // namespace pardec
