#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pardec {

/// The statistics of the tables. Deterministic, pure functions. Without blocks or clusters, the
/// estimate and both ends are NaN.

/// Ends are NaN if there is no interval.
struct Interval {
  double estimate, low, high;
};

/// Seconds (or any cost) of two arms on the same block.
struct BlockPair {
  double baseline, method;
};

/// Ratio of totals, sum(baseline) / sum(method): the speed-up of the method. The interval is
/// Student's t on the logarithm of the ratio, with the standard error of the jackknife over blocks
/// (Efron and Tibshirani 1993, chapter 11); both arms of a block are left out together. The degrees
/// of freedom are effective_count() - 1 of the blocks' shares of the totals, so that a few long
/// blocks count as few. With one block, there is no interval. Repeats of a block are not new
/// blocks: sum them first. REQUIRES: costs not negative, 0 < confidence < 1.
Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// ratio_of_totals, robust against disturbances that slowed one arm alone. A block is an outlier if
/// the logarithm of its ratio differs from the median by more than 3.5 robust standard deviations
/// (1.4826 times the median distance from the median; Iglewicz and Hoaglin 1993) and by more than a
/// tenth. If there are outliers, the interval also covers the interval of the other blocks.
struct RobustRatio {
  Interval ratio;
  Interval without_outliers;       ///< ratio_of_totals of the other blocks
  std::int64_t slow_baseline = 0;  ///< number of outliers in which the baseline took too long
  std::int64_t slow_method = 0;    ///< number of outliers in which the method took too long

  std::int64_t outliers() const { return slow_baseline + slow_method; }
};
RobustRatio robust_ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// 1 / sum of the squared shares (Kish 1965): the number of equal units that would give a mean with
/// the same uncertainty. 0: no weight.
double effective_count(std::span<const double> weights);

/// Geometric mean and median of the ratios baseline / method of single blocks.
double geometric_mean_ratio(std::span<const BlockPair> blocks);
double median_ratio(std::span<const BlockPair> blocks);

/// Student's interval around `estimate`, from the statistic without each of n units in turn
/// (jackknife). The degrees of freedom are n - 1, or `effective` - 1 (at least 1) if given: the
/// number of equal units that the units are worth. With fewer than two units, there is no interval.
Interval jackknife_interval(double estimate, std::span<const double> without,
                            double confidence = 0.95,
                            std::optional<double> effective = std::nullopt);

/// The smallest interval that covers both; NaN ends are ignored. The estimate is a's.
Interval hull(const Interval& a, const Interval& b);

/// One of several estimates of a quantity, with its variance.
struct EffectSize {
  double estimate, variance;
};

/// The mean over all possible repetitions, and the variation between repetitions.
struct RandomEffects {
  Interval mean;
  double between;  ///< standard deviation between repetitions, beyond the single variances
};
/// The variation between repetitions is DerSimonian and Laird's (1986). The mean's interval is that
/// of Hartung and Knapp (2001): Student's, with one degree of freedom less than estimates; never
/// narrower than without their factor (Roever et al. 2015). With fewer than two estimates, there is
/// no interval. REQUIRES: variances above 0.
RandomEffects random_effects(std::span<const EffectSize> effects, double confidence = 0.95);

/// P(|T| > |t|) for Student's distribution. REQUIRES: degrees > 0.
double student_t_p(double t, double degrees);

/// The t with P(T < t) = p for Student's distribution. REQUIRES: 0 < p < 1, degrees > 0.
double student_t_quantile(double p, double degrees);

/// Exact two-sided McNemar test: the p-value of the two counts of discordant pairs, min(1, twice
/// the binomial tail). 1 without discordant pairs. Computed in log space, so that no count
/// overflows. REQUIRES: counts not negative.
double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right);

/// Exact two-sided test of paired counts, for pairs that depend on each other within a cluster.
/// `differences`: per cluster, the number right in one arm minus the number right in the other.
/// Under the null hypothesis, each difference could equally have the other sign. p is the share of
/// the 2^n sign choices with a sum at least as far from 0 (a sign-flip permutation test, Fisher
/// 1935). With one pair per cluster, it equals mcnemar_exact. If the absolute differences sum to
/// more than 20,000, the normal approximation is used.
double clustered_mcnemar(std::span<const std::int64_t> differences);

/// Holm's step-down adjustment (Holm 1979): adjusted p-values, at most 1, in the given order.
std::vector<double> holm(std::span<const double> p_values);

/// part / whole; 0 if `whole` is 0.
inline double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Quantile of raw samples by linear interpolation (numpy's default). REQUIRES: not empty, 0 <= q
/// <= 1.
double quantile(std::vector<double> samples, double q);

}  // namespace pardec
