#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pardec {

/// The statistics behind the tables. Pure functions without chance. No blocks or clusters: NaN, for
/// the estimate and both ends.

/// Ends are NaN where there are none.
struct Interval {
  double estimate, low, high;
};

/// Seconds (or any cost) of two arms on the same block.
struct BlockPair {
  double baseline, method;
};

/// Ratio of totals, sum(baseline) / sum(method): how many times faster the method is. The interval
/// is that of Student's t with n - 1 degrees of freedom about the logarithm of the ratio, with the
/// standard error of the jackknife over blocks (Efron and Tibshirani 1993, chapter 11): both arms
/// of a block are left out together. With six blocks it covers the truth about as often as it says,
/// where the percentiles of a bootstrap do in 84 of 100. One block: no ends. Repeats of a block are
/// no new blocks: sum them first. REQUIRES: costs not negative, 0 < confidence < 1.
Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// Geometric mean and median of the blocks' own ratios baseline / method.
double geometric_mean_ratio(std::span<const BlockPair> blocks);
double median_ratio(std::span<const BlockPair> blocks);

/// What one example adds to a score that is a mean over groups of a ratio of sums: value F1 (a
/// group a category and attribute, or one for all), plain means (one group, denominators 1). Groups
/// whose denominators sum to 0 are left out.
struct ScorePart {
  std::int32_t cluster, group;  ///< from 0 on
  double numerator, denominator;
};

/// A score of two arms on the same clusters, which are left out together; of `method` alone where
/// `baseline` is empty (the difference is then NaN). Intervals of Student's t by the jackknife over
/// clusters, as of ratio_of_totals. A part's cluster is below `clusters`; parts of a cluster's
/// repeats are no new clusters.
struct ScoreIntervals {
  Interval method, difference;  ///< difference: method - baseline
};
ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               double confidence = 0.95);

/// Student's interval with n - 1 degrees of freedom about `estimate`, from the statistic without
/// each of n units in turn (jackknife). Fewer than two units: no ends.
Interval jackknife_interval(double estimate, std::span<const double> without,
                            double confidence = 0.95);

/// P(|T| > |t|) of Student's distribution. REQUIRES: degrees > 0.
double student_t_p(double t, double degrees);

/// The t with P(T < t) = p of Student's distribution. REQUIRES: 0 < p < 1, degrees > 0.
double student_t_quantile(double p, double degrees);

/// Exact two-sided McNemar test: p-value from the two counts of discordant pairs, min(1, twice the
/// binomial tail). No discordant pair: 1. Computed in log space: no overflow for any count.
/// REQUIRES: counts not negative.
double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right);

/// Holm's step-down adjustment (Holm 1979): adjusted p-values, at most 1, in the given order.
std::vector<double> holm(std::span<const double> p_values);

/// A part of a whole; 0 of nothing is 0.
inline double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Quantile of raw samples by linear interpolation (numpy's default). REQUIRES: not empty, 0 <= q
/// <= 1.
double quantile(std::vector<double> samples, double q);

}  // namespace pardec
