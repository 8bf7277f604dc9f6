#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/score_intervals.hpp"
#include "src/reproduction/verdicts.hpp"

/// Computes quantities that are ratios of sums over answers, and compares two arms over the answers
/// that both have.
namespace pardec {

/// The contribution of one scored field, or of a job with all its examples, to a quantity. The
/// quantity is computed from numerators and denominators as in ScorePart.
struct QuantityPart {
  std::vector<std::string> answers;   ///< names of examples, or of their fields; not empty
  std::vector<std::string> clusters;  ///< names of the clusters of these answers; not empty
  std::string group;                  ///< see ScorePart::group
  double numerator, denominator;
};

/// The parts of two arms for the answers that both have. Answers that one arm generated in one job
/// (a stack of examples) stay together: if the other arm lacks one of these answers, all of
/// them are left out of both arms. Repeated answers count as one answer, with their mean.
struct PairedParts {
  std::vector<ScorePart> arm, other;  ///< ScorePart::cluster: number of the unit, from 0
  /// Number of units. A unit is a cluster; clusters that share a job are one unit.
  std::int32_t units = 0;
  /// number of answers that both arms have, and number of answers that are left out
  std::int64_t answers = 0, left_out = 0;
};
/// Pairs the parts of two arms.
PairedParts paired(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other);

/// The quantity of one arm, with an interval (score_intervals). `range`: the range of a single
/// answer's score; none: the quantity is not a score. If all parts are equal and there is no range,
/// the interval has width 0.
Measured level_of(const std::vector<QuantityPart>& parts, std::optional<ScoreRange> range);
/// The quantity of `arm` minus the quantity of `other`, over the answers that both have. If there
/// are no such answers: NaN, with 0 units.
Measured difference_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                       std::optional<ScoreRange> range);
/// The quantity of `arm` divided by the quantity of `other`, over the answers that both have. If
/// there are no such answers: NaN, with 0 units.
Measured ratio_of(const std::vector<QuantityPart>& arm, const std::vector<QuantityPart>& other,
                  std::optional<ScoreRange> range);

}  // namespace pardec
