#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Intervals of scores, and of their differences between two arms. Deterministic, pure functions.
namespace pardec {

/// The contribution of one example to a score. The score is a mean over groups; the score of a
/// group is a ratio of sums. Examples: value F1 (a group per category and attribute, or a single
/// group), plain means (a single group, denominators 1). Groups whose denominators sum to 0 are
/// left out.
struct ScorePart {
  std::int32_t cluster, group;  ///< from 0
  double numerator, denominator;
};

/// The range of an example's score. Infinite: unknown; the largest and the smallest score of a
/// cluster are used instead.
struct ScoreRange {
  double least = 0, most = 1;
};
inline constexpr ScoreRange kNoRange{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};

/// A weighted mean over independent clusters, each with a value and a share of the mean.
class ClusterMean {
 public:
  struct Value {
    double value, share;
  };
  /// `range` is widened to include all values. Shares are not negative; clusters without a share
  /// are ignored. `mean`: sum of value times share, divided by the sum of the shares.
  ClusterMean(std::vector<Value> values, ScoreRange range);

  double mean() const { return mean_; }
  /// The number of clusters with a share, and the number of equal clusters that would give the same
  /// uncertainty.
  std::int64_t clusters() const { return clusters_; }
  double effective() const { return effective_; }

  /// The score interval of a mean of bounded values. It contains each mean that the data does not
  /// reject. The variance for a candidate mean is that of the most likely distribution with this
  /// mean, which may include unobserved values at the ends of the range. For differences of right
  /// and wrong answers, this is Tango's interval of paired proportions (Tango 1998); for right and
  /// wrong answers, it is Wilson's (1927). In general, the variance is that of the empirical
  /// likelihood (Owen 1988) with the ends of the range. The critical value is Student's, with
  /// clusters() - 1 degrees of freedom. Thus an interval has a width even if all values are equal:
  /// for n differences of 0, it ranges from about -4 / n to 4 / n.
  Interval interval(double confidence = 0.95) const;

  /// The number of clusters of the same kind that would give an interval above `limit`. None: the
  /// mean is not above it, or more than a million are needed.
  std::optional<std::int64_t> clusters_above(double limit, double confidence = 0.95) const;

  /// The same with all values negated.
  ClusterMean mirrored() const;

 private:
  /// The largest mean below the observed one that the data rejects.
  double lower_end(double critical) const;
  /// Squared distance of the observed mean from `mean`, divided by the variance, for one cluster.
  double distance_from(double mean) const;

  std::vector<Value> values_;  ///< shares sum to 1
  ScoreRange range_;
  double mean_ = 0, effective_ = 0;
  std::int64_t clusters_ = 0;
};

/// A score of two arms on the same clusters. With an empty `baseline`, the score of `method` alone
/// (difference and ratio are then NaN). The parts of both arms belong to the same examples; pairing
/// is the caller's task. Each interval is Student's, by the jackknife over clusters, which are left
/// out of both arms together; its degrees of freedom are those of the effective number of clusters.
/// The ratio's interval is computed on its logarithm. If scores have a range, each interval also
/// covers ClusterMean's interval; for the ratio, this is the difference's interval over the
/// baseline's score. `cluster` of a part is below `clusters`; repeats belong to the same cluster.
struct ScoreIntervals {
  Interval method, difference, ratio;  ///< method - baseline, method / baseline
  /// The difference as a mean over clusters; none without a baseline.
  std::optional<ClusterMean> differences;
};
ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               std::optional<ScoreRange> range = ScoreRange{},
                               double confidence = 0.95);

}  // namespace pardec
