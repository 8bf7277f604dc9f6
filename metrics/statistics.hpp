#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pardec {

struct Interval {
  double estimate, low, high;
};

/// Seconds (or any cost) of two arms on the same block.
struct BlockPair {
  double baseline, method;
};

/// Ratio of totals, sum(baseline) / sum(method): how many times faster the method is; with a percentile
/// interval of a paired bootstrap over blocks (design, section 9). One block: the interval is the estimate.
Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence = 0.95, int resamples = 10000, std::uint64_t seed = 1);

/// Geometric mean and median of the blocks' own ratios.
double geometric_mean_ratio(std::span<const BlockPair> blocks);
double median_ratio(std::span<const BlockPair> blocks);

/// Difference of means method - baseline of a score, bootstrapped over clusters: cluster c holds `baseline[c]`, `method[c]`,
/// each the (sum, count) of its samples.
struct ClusterScore {
  double baseline_sum, method_sum;
  double count;
};
Interval score_difference(std::span<const ClusterScore> clusters, double confidence = 0.95, int resamples = 10000, std::uint64_t seed = 1);

/// Exact two-sided McNemar test: p-value from the two counts of discordant pairs.
double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right);

/// Holm's step-down adjustment: adjusted p-values in the given order.
std::vector<double> holm(std::span<const double> p_values);

/// Quantile of raw samples by linear interpolation (numpy's default). REQUIRES: not empty, 0 <= q <= 1.
double quantile(std::vector<double> samples, double q);

}  // namespace pardec
