#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/score_intervals.hpp"
#include "src/reproduction/verdicts.hpp"

/// Quantities that are ratios of sums over answers, and how those of two arms compare on the
/// answers that both have.
namespace pardec {

/// What some answers add to a quantity: a scored field, or a job with all its examples.
struct QuantityPart {
  std::vector<std::string> answers;   ///< names: of an example, or of its field
  std::vector<std::string> clusters;  ///< of these answers
  std::string group;                  ///< as of ScorePart
  double numerator, denominator;
};

/// Answers that one arm gave together (a stack of examples) are in or out together: they are left
/// out of both arms where the other arm lacks one of them. Repeats count by their mean. Clusters
/// that a job joins are one unit.
struct PairedParts {
  std::vector<ScorePart> arm, other;
  std::int32_t units = 0;
  std::int64_t answers = 0, left_out = 0;  ///< that both have, and that one of them has
};
PairedParts paired(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other);

/// `range`: of the scores of single answers; none: the quantity is no score, and where it does not
/// vary its interval has no width.
Measured level_of(const std::vector<QuantityPart>& parts, std::optional<ScoreRange> range);
/// Of the arm less the other. No shared answer: NaN over no units.
Measured difference_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                       std::optional<ScoreRange> range);
/// Of the arm over the other. No shared answer: NaN over no units.
Measured ratio_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                  std::optional<ScoreRange> range);

}  // namespace pardec
