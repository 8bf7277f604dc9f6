#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Intervals of scores, and of differences between two arms' scores. Deterministic, pure functions.
namespace pardec {

/// The contribution of one example to a score. A score is a mean over groups. The value of a group
/// is the sum of its numerators divided by the sum of its denominators. For macro F1, each category
/// and attribute is a group; for micro F1 and plain means, there is a single group. In plain means,
/// denominators are 1. A group whose denominators sum to 0 is left out.
struct ScorePart {
  std::int32_t cluster, group;  ///< numbers of the cluster and the group, from 0
  double numerator, denominator;
};

/// The range of possible scores of an example. If an end is infinite (unknown), the smallest or
/// largest observed value of a cluster is used.
struct ScoreRange {
  double least = 0, most = 1;
};
inline constexpr ScoreRange kNoRange{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};

/// A weighted mean over independent clusters.
class ClusterMean {
 public:
  /// The value of one cluster, and its share (weight) in the mean.
  struct Value {
    double value, share;
  };
  /// The mean is the sum of value times share, divided by the sum of shares. `range`: the range of
  /// values, which is widened to include all given values. Clusters with share 0 are ignored.
  /// REQUIRES: shares are not negative.
  ClusterMean(std::vector<Value> values, ScoreRange range);

  double mean() const { return mean_; }
  /// The number of clusters with a positive share.
  std::int64_t clusters() const { return clusters_; }
  /// The number of equally weighted clusters that would give the same uncertainty.
  double effective() const { return effective_; }

  /// The score interval of a mean of bounded values: all candidate means that a score test does not
  /// reject. The test's variance for a candidate mean is the variance of the most likely
  /// distribution with this mean. This distribution may include the ends of the range, even if they
  /// were not observed (empirical likelihood, Owen 1988). For right and wrong answers, the result
  /// is Wilson's interval (1927); for differences of right and wrong answers, it is Tango's
  /// interval of paired proportions (1998). The critical value is Student's, with clusters() - 1
  /// degrees of freedom. The interval has a positive width even if all values are equal: for n
  /// differences of 0 with the range -1 to 1, the 95 % interval is about [-4 / n, 4 / n]. There is
  /// no interval (NaN) with fewer than two clusters, or if the range is unknown and all values are
  /// equal.
  Interval interval(double confidence = 0.95) const;

  /// The number of clusters, similar to these clusters, with which the whole interval would be
  /// above `limit`. None: the mean is not above `limit`, `limit` is not above the range's lower
  /// end, there are fewer than two clusters, or more than a million clusters are needed.
  std::optional<std::int64_t> clusters_above(double limit, double confidence = 0.95) const;

  /// This mean with all values, and the range, negated.
  ClusterMean mirrored() const;

 private:
  /// The lower end of the interval: the largest candidate mean below mean() that is rejected.
  double lower_end(double critical) const;
  /// The squared distance of mean() from the candidate `mean`, divided by the variance, for one
  /// cluster.
  double distance_from(double mean) const;

  std::vector<Value> values_;  ///< shares sum to 1
  ScoreRange range_;
  double mean_ = 0, effective_ = 0;
  std::int64_t clusters_ = 0;
};

/// The score of a method, and its comparison with the score of a baseline.
struct ScoreIntervals {
  Interval method;      ///< the method's score
  Interval difference;  ///< method - baseline; NaN if there is no baseline
  Interval ratio;       ///< method / baseline; NaN if there is no baseline
  /// The difference as a mean over clusters; none if there is no baseline.
  std::optional<ClusterMean> differences;
};
/// Computes the score of `method`, and its difference from and ratio to the score of `baseline`
/// (empty: there is no baseline). All results are NaN if `method` is empty. The parts of both arms
/// must belong to the same examples; pairing is the caller's task. Repeated answers to an example
/// belong to the same cluster. `clusters`: number of clusters.
///
/// Each interval is a Student's t interval with the jackknife's standard error over clusters; a
/// cluster is left out of both arms together. The degrees of freedom are the effective number of
/// clusters minus 1. The interval of the ratio is computed for its logarithm. If `range` is set,
/// each interval is widened to cover ClusterMean's interval too; for the ratio, this interval has
/// the ends 1 + e / b, where e is an end of ClusterMean's interval of the difference, and b is the
/// baseline's score. If ClusterMean has no interval for the score or for the difference, this score
/// or difference has none either (NaN). REQUIRES: the cluster of a part is below `clusters`.
ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               std::optional<ScoreRange> range = ScoreRange{},
                               double confidence = 0.95);

}  // namespace pardec
