#pragma once
#include <cstdint>
#include <optional>
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
/// is that of Student's t about the logarithm of the ratio, with the standard error of the
/// jackknife over blocks (Efron and Tibshirani 1993, chapter 11): both arms of a block are left out
/// together. Its degrees of freedom are effective_count() - 1 of the blocks' shares of the totals,
/// so that a few long blocks count as few. One block: no ends. Repeats of a block are no new
/// blocks: sum them first. REQUIRES: costs not negative, 0 < confidence < 1.
Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// ratio_of_totals where something else may have taken time from one arm alone. A block is an
/// outlier where the logarithm of its own ratio is further from their median than 3.5 robust
/// standard deviations (1.4826 times the median distance from the median; Iglewicz and Hoaglin
/// 1993) and than a tenth. Where there are outliers the interval also holds the interval of the
/// other blocks.
struct RobustRatio {
  Interval ratio;
  Interval without_outliers;       ///< ratio_of_totals of the other blocks
  std::int64_t slow_baseline = 0;  ///< outliers in which the baseline took too long,
  std::int64_t slow_method = 0;    ///< and the method

  std::int64_t outliers() const { return slow_baseline + slow_method; }
};
RobustRatio robust_ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95);

/// 1 / sum of the squared shares (Kish 1965): of how many equal units a mean with these weights is
/// as uncertain as. 0: no weight.
double effective_count(std::span<const double> weights);

/// Geometric mean and median of the blocks' own ratios baseline / method.
double geometric_mean_ratio(std::span<const BlockPair> blocks);
double median_ratio(std::span<const BlockPair> blocks);

/// Student's interval about `estimate`, from the statistic without each of n units in turn
/// (jackknife), with n - 1 degrees of freedom; with `effective` - 1, at least 1, where the units
/// are as good as so many equal ones. Fewer than two units: no ends.
Interval jackknife_interval(double estimate, std::span<const double> without,
                            double confidence = 0.95,
                            std::optional<double> effective = std::nullopt);

/// The least interval that holds both; ends that are NaN count for nothing. The estimate is a's.
Interval hull(const Interval& a, const Interval& b);

/// A quantity that was found several times, each time with a variance of its own.
struct EffectSize {
  double estimate, variance;
};

/// The mean over all times that one might find it, and how far these times lie apart.
struct RandomEffects {
  Interval mean;
  double between;  ///< standard deviation from time to time, beyond the variances
};
/// DerSimonian and Laird (1986) for what lies between; the mean's interval is Hartung's and Knapp's
/// (2001), Student's of one less than there are times, never narrower than without their factor
/// (Roever et al. 2015). Fewer than two: no ends. REQUIRES: variances above 0.
RandomEffects random_effects(std::span<const EffectSize> effects, double confidence = 0.95);

/// P(|T| > |t|) of Student's distribution. REQUIRES: degrees > 0.
double student_t_p(double t, double degrees);

/// The t with P(T < t) = p of Student's distribution. REQUIRES: 0 < p < 1, degrees > 0.
double student_t_quantile(double p, double degrees);

/// Exact two-sided McNemar test: p-value from the two counts of discordant pairs, min(1, twice the
/// binomial tail). No discordant pair: 1. Computed in log space: no overflow for any count.
/// REQUIRES: counts not negative.
double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right);

/// Exact two-sided test of paired counts where the pairs of one cluster depend on one another.
/// `differences`: by cluster, how many more the one arm has right than the other. Under the null
/// hypothesis each difference may as well have the other sign, so p is the share of the 2^n choices
/// of signs with a sum at least as far from 0 (a sign-flip permutation test, Fisher 1935). With one
/// pair a cluster it is mcnemar_exact. Where the absolute differences sum to more than 20,000 it is
/// the normal approximation of that share.
double clustered_mcnemar(std::span<const std::int64_t> differences);

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
