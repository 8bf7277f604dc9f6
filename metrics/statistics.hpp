#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pardec {

/// The statistics that the tables of results need. Deterministic, pure functions.

/// An estimate with an interval. The ends are NaN if there is no interval. In the functions that
/// return intervals, `confidence` is the intended probability that the interval covers the true
/// value.
struct Interval {
  double estimate, low, high;
};

/// The seconds (or another cost) of two arms on the same block.
struct BlockPair {
  double baseline, method;
};

/// The ratio of totals, sum(baseline) / sum(method): the speedup of the method. The interval is
/// Student's t interval of the logarithm of the ratio, with the standard error of the jackknife
/// over blocks (Efron and Tibshirani 1993, chapter 11), which leaves out both arms of a block
/// together. The degrees of freedom are effective_count() of the blocks' shares of the totals,
/// minus 1. Thus, if a few long blocks make up most of the time, the interval is as wide as for few
/// blocks. With one block, there is no interval; with none, the estimate is NaN, too. Repeats
/// of a block are not new blocks; add up their costs first. REQUIRES: costs are not negative; 0 <
/// confidence < 1.
Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// ratio_of_totals with a check for disturbances that slowed down only one arm. A block is an
/// outlier if the logarithm of its ratio differs from the median by more than 0.1, and by more than
/// 3.5 robust standard deviations (1.4826 times the median distance from the median; Iglewicz and
/// Hoaglin 1993). If there are outliers, the interval is widened to cover the interval without
/// outliers, too.
struct RobustRatio {
  Interval ratio;
  Interval without_outliers;       ///< ratio_of_totals without outliers
  std::int64_t slow_baseline = 0;  ///< number of outliers in which the baseline was slow
  std::int64_t slow_method = 0;    ///< number of outliers in which the method was slow

  std::int64_t outliers() const { return slow_baseline + slow_method; }
};
RobustRatio robust_ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// The effective number of units (Kish 1965): the number of equally weighted units that would give
/// a mean with the same uncertainty. It is 1 / sum of squared shares, where a share is a weight
/// divided by the sum of weights. 0 if all weights are 0.
double effective_count(std::span<const double> weights);

/// The geometric mean, and the median, of the ratios baseline / method of single blocks. NaN if
/// there are no blocks.
double geometric_mean_ratio(std::span<const BlockPair> blocks);
double median_ratio(std::span<const BlockPair> blocks);

/// Student's t interval around `estimate`, with the jackknife's standard error. without[i]: the
/// statistic computed without unit i. `effective`: the effective number of units (effective_count);
/// none: all n units count equally. The degrees of freedom are this number minus 1, but at least 1.
/// With fewer than two units, or if a statistic is not finite, there is no interval.
Interval jackknife_interval(double estimate, std::span<const double> without,
                            double confidence = 0.95,
                            std::optional<double> effective = std::nullopt);

/// The smallest interval that covers both intervals, with the estimate of `a`. NaN ends are
/// ignored.
Interval hull(const Interval& a, const Interval& b);

/// One of several estimates of a quantity, with its variance.
struct EffectSize {
  double estimate, variance;
};

/// The mean over all possible repetitions of an experiment, and the variation between repetitions.
struct RandomEffects {
  Interval mean;
  /// standard deviation between repetitions, beyond the estimates' variances; NaN with fewer than
  /// two estimates
  double between;
};
/// Random-effects meta-analysis. The variation between repetitions is estimated as by DerSimonian
/// and Laird (1986). The interval of the mean follows Hartung and Knapp (2001): a Student's t
/// interval with n - 1 degrees of freedom. Their factor for the variance of the mean is raised to 1
/// if it is smaller (Roever et al. 2015), so that it never makes the interval narrower. With fewer
/// than two estimates, there is no interval; with none, the mean is NaN, too. REQUIRES: all
/// variances are above 0.
RandomEffects random_effects(std::span<const EffectSize> effects, double confidence = 0.95);

/// P(|T| > |t|) for Student's t distribution with `degrees` degrees of freedom. REQUIRES: degrees >
/// 0.
double student_t_p(double t, double degrees);

/// The t with P(T < t) = p for Student's t distribution. REQUIRES: 0 < p < 1, degrees > 0.
double student_t_quantile(double p, double degrees);

/// The p-value of the exact two-sided McNemar test: min(1, twice the binomial tail). The arguments
/// are the two counts of discordant pairs, i.e. of examples that only one of the arms answers
/// right. 1 if there are no discordant pairs. Computed with logarithms, so that large counts do not
/// overflow. REQUIRES: counts are not negative.
double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right);

/// The p-value of an exact two-sided test of paired right and wrong answers that depend on each
/// other within a cluster: a sign-flip permutation test (Fisher 1935). `differences`: per cluster,
/// the number of right answers of one arm minus the number of right answers of the other arm. Under
/// the null hypothesis, both signs of a difference are equally likely. p is the share of the 2^n
/// sign combinations with a sum at least as far from 0 as the observed sum. With one pair per
/// cluster, p equals mcnemar_exact. If the absolute differences sum to more than 20,000, the normal
/// approximation is used.
double clustered_mcnemar(std::span<const std::int64_t> differences);

/// The p-values adjusted for multiple tests with Holm's step-down method (Holm 1979): at most 1, in
/// the given order.
std::vector<double> holm(std::span<const double> p_values);

/// part / whole; 0 if `whole` is 0.
inline double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The quantile q of samples, with linear interpolation (numpy's default). REQUIRES: samples are
/// not empty; 0 <= q <= 1.
double quantile(std::vector<double> samples, double q);

/// The density of samples at each place, by Gaussian kernels with Scott's bandwidth: the standard
/// deviation (with the divisor n - 1) times n^(-1/5), as in scipy's gaussian_kde. Empty if there
/// are fewer than two samples, or if all samples are equal. REQUIRES: samples are finite.
std::vector<double> kernel_density(std::span<const double> samples, std::span<const double> places);

}  // namespace pardec
