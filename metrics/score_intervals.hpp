#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Intervals of scores, and of their differences between two arms. Pure functions without chance.
namespace pardec {

/// What one example adds to a score that is a mean over groups of a ratio of sums: value F1 (a
/// group a category and attribute, or one for all), plain means (one group, denominators 1). Groups
/// whose denominators sum to 0 are left out.
struct ScorePart {
  std::int32_t cluster, group;  ///< from 0 on
  double numerator, denominator;
};

/// Between what an example's score can lie. Infinite: nobody knows, the largest and the least score
/// of a cluster take its place.
struct ScoreRange {
  double least = 0, most = 1;
};
inline constexpr ScoreRange kNoRange{-std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};

/// A mean over independent clusters: what each has, and its share of the mean.
class ClusterMean {
 public:
  struct Value {
    double value, share;
  };
  /// Values lie in `range`, or widen it; shares are not negative. Clusters without a share do not
  /// count. `mean`: sum of value times share over the sum of the shares.
  ClusterMean(std::vector<Value> values, ScoreRange range);

  double mean() const { return mean_; }
  /// How many clusters have a share, and of how many equal ones the mean is as uncertain as.
  std::int64_t clusters() const { return clusters_; }
  double effective() const { return effective_; }

  /// The score interval of a mean of bounded values: it holds each mean that the data does not
  /// refute, the variance being that of the likeliest distribution with this mean, in which there
  /// may be values at the ends of the range that nobody saw. For differences of right and wrong
  /// answers this is Tango's interval of paired proportions (Tango 1998), for right and wrong
  /// answers Wilson's (1927); in general the variance is that of the empirical likelihood (Owen
  /// 1988) with the range's ends. The critical value is Student's of clusters() - 1. So values that
  /// are all equal do not give an interval without width: of n equal differences of 0 it reaches
  /// from about -4 / n to 4 / n.
  Interval interval(double confidence = 0.95) const;

  /// How many clusters alike would give an interval that lies above `limit`. None: the mean is not
  /// above it, or more than a million.
  std::optional<std::int64_t> clusters_above(double limit, double confidence = 0.95) const;

  /// With the signs of all values turned.
  ClusterMean mirrored() const;

 private:
  /// The largest mean below the observed one that the data refutes.
  double lower_end(double critical) const;
  /// Squared distance of the observed mean from `mean`, over the variance, for one cluster.
  double distance_from(double mean) const;

  std::vector<Value> values_;  ///< shares sum to 1
  ScoreRange range_;
  double mean_ = 0, effective_ = 0;
  std::int64_t clusters_ = 0;
};

/// A score of two arms on the same clusters; of `method` alone where `baseline` is empty
/// (difference and ratio are then NaN). Parts of both are of the same answers (pairing is the
/// caller's). Each interval is Student's by the jackknife over clusters, which are left out of both
/// arms together, with the degrees of freedom of as many equal clusters; the ratio's is about its
/// logarithm. Where scores have a range it also holds ClusterMean's interval, that of the ratio by
/// the difference's over the baseline's score. A part's cluster is below `clusters`; parts of a
/// cluster's repeats are no new clusters.
struct ScoreIntervals {
  Interval method, difference, ratio;  ///< method - baseline, method / baseline
  /// What the difference is the mean of; none without a baseline.
  std::optional<ClusterMean> differences;
};
ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               std::optional<ScoreRange> range = ScoreRange{},
                               double confidence = 0.95);

}  // namespace pardec
