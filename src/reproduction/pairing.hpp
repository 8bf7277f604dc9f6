#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/score_intervals.hpp"
#include "src/reproduction/verdicts.hpp"

/// Quantities that are ratios of sums over answers, and their comparison between two arms over the
/// answers that both have.
namespace pardec {

/// The contribution of some answers to a quantity: a scored field, or a job with all its examples.
struct QuantityPart {
  std::vector<std::string> answers;   ///< names of examples or of their fields
  std::vector<std::string> clusters;  ///< clusters of these answers
  std::string group;                  ///< as in ScorePart
  double numerator, denominator;
};

/// Answers that one arm generated together (a stack of examples) are used together: they are left
/// out of both arms if the other arm does not have one of them. Repeats count by their mean.
/// Clusters that are joined by a job are one unit.
struct PairedParts {
  std::vector<ScorePart> arm, other;
  std::int32_t units = 0;
  /// answers that both arms have, and answers that only one has
  std::int64_t answers = 0, left_out = 0;
};
PairedParts paired(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other);

/// `range`: of the scores of single answers; none: the quantity is not a score, and its interval
/// has no width if it does not vary.
Measured level_of(const std::vector<QuantityPart>& parts, std::optional<ScoreRange> range);
/// The arm minus the other. Without shared answers: NaN over 0 units.
Measured difference_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                       std::optional<ScoreRange> range);
/// The arm divided by the other. Without shared answers: NaN over 0 units.
Measured ratio_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                  std::optional<ScoreRange> range);

}  // namespace pardec
