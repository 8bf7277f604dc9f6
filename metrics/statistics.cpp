#include "metrics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace pardec {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Regularised incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8,
/// evaluated by Lentz's method). REQUIRES: 0 <= x <= (a + 1) / (a + b + 2).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 / std::max(kTiny, 1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < 500; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 / (1 + term * d);
      c = 1 + term / c;
      fraction *= c * d;
    }
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return fraction / a *
         std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) +
                  b * std::log1p(-x));
}

/// P(T > t) for t >= 0.
double student_t_tail(double t, double degrees) {
  const double x = degrees / (degrees + t * t), a = degrees / 2, b = 0.5;
  if (x <= (a + 1) / (a + b + 2)) return incomplete_beta(a, b, x) / 2;
  return (1 - incomplete_beta(b, a, t * t / (degrees + t * t))) / 2;
}

}  // namespace

double effective_count(std::span<const double> weights) {
  double sum = 0, squares = 0;
  for (const double weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return squares > 0 ? sum * sum / squares : 0;
}

Interval hull(const Interval& a, const Interval& b) {
  return {a.estimate, std::fmin(a.low, b.low), std::fmax(a.high, b.high)};
}

Interval jackknife_interval(double estimate, std::span<const double> without, double confidence,
                            std::optional<double> effective) {
  const auto n = static_cast<double>(without.size());
  if (without.size() < 2) return {estimate, kNaN, kNaN};
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  const double degrees = std::max(1.0, effective.value_or(n) - 1);
  const double half =
      student_t_quantile(0.5 + confidence / 2, degrees) * std::sqrt(squares * (n - 1) / n);
  return std::isfinite(half) ? Interval{estimate, estimate - half, estimate + half}
                             : Interval{estimate, kNaN, kNaN};
}

RandomEffects random_effects(std::span<const EffectSize> effects, double confidence) {
  const auto count = static_cast<double>(effects.size());
  if (effects.empty()) return {{kNaN, kNaN, kNaN}, kNaN};
  if (effects.size() < 2) return {{effects.front().estimate, kNaN, kNaN}, kNaN};
  struct Weighed {
    double mean, weight, squares, around;  // sums of weights, of their squares, of distances
  };
  const auto weigh = [&](double between) {
    Weighed all{0, 0, 0, 0};
    for (const EffectSize& one : effects) {
      const double weight = 1 / (one.variance + between);
      all.mean += weight * one.estimate;
      all.weight += weight;
      all.squares += weight * weight;
    }
    all.mean /= all.weight;
    for (const EffectSize& one : effects)
      all.around +=
          (one.estimate - all.mean) * (one.estimate - all.mean) / (one.variance + between);
    return all;
  };
  const Weighed fixed = weigh(0);
  const double between =
      std::max(0.0, (fixed.around - (count - 1)) / (fixed.weight - fixed.squares / fixed.weight));
  const Weighed random = weigh(between);
  const double factor = std::max(1.0, random.around / (count - 1));
  const double half =
      student_t_quantile(0.5 + confidence / 2, count - 1) * std::sqrt(factor / random.weight);
  return {{random.mean, random.mean - half, random.mean + half}, std::sqrt(between)};
}

double student_t_p(double t, double degrees) {
  assert(degrees > 0);
  return 2 * student_t_tail(std::abs(t), degrees);
}

double student_t_quantile(double p, double degrees) {
  assert(p > 0 && p < 1 && degrees > 0);
  if (p < 0.5) return -student_t_quantile(1 - p, degrees);
  double low = 0, high = 1;
  while (student_t_tail(high, degrees) > 1 - p) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (student_t_tail(middle, degrees) > 1 - p ? low : high) = middle;
  }
  return high;
}

Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (blocks.empty()) return {kNaN, kNaN, kNaN};
  BlockPair all{0, 0};
  for (const BlockPair& block : blocks) {
    all.baseline += block.baseline;
    all.method += block.method;
  }
  std::vector<double> without, shares;
  for (const BlockPair& block : blocks) {
    without.push_back(std::log((all.baseline - block.baseline) / (all.method - block.method)));
    shares.push_back(block.baseline / all.baseline + block.method / all.method);
  }
  const double ratio = all.baseline / all.method;
  const Interval log =
      jackknife_interval(std::log(ratio), without, confidence, effective_count(shares));
  return {ratio, std::exp(log.low), std::exp(log.high)};
}

RobustRatio robust_ratio_of_totals(std::span<const BlockPair> blocks, double confidence) {
  constexpr double kDeviations = 3.5, kLeast = 0.1;
  RobustRatio found{ratio_of_totals(blocks, confidence), {}};
  std::vector<double> ratios, distances;
  for (const BlockPair& block : blocks) ratios.push_back(std::log(block.baseline / block.method));
  found.without_outliers = found.ratio;
  if (blocks.empty()) return found;
  const double middle = quantile(ratios, 0.5);
  for (const double ratio : ratios) distances.push_back(std::abs(ratio - middle));
  const double far = std::max(kLeast, kDeviations * 1.4826 * quantile(distances, 0.5));
  std::vector<BlockPair> others;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (distances[i] <= far)
      others.push_back(blocks[i]);
    else
      ++(ratios[i] > middle ? found.slow_baseline : found.slow_method);
  }
  found.without_outliers = ratio_of_totals(others, confidence);
  if (found.outliers() > 0) found.ratio = hull(found.ratio, found.without_outliers);
  return found;
}

double geometric_mean_ratio(std::span<const BlockPair> blocks) {
  double sum = 0;
  for (const BlockPair& block : blocks) sum += std::log(block.baseline / block.method);
  return blocks.empty() ? kNaN : std::exp(sum / static_cast<double>(blocks.size()));
}

double median_ratio(std::span<const BlockPair> blocks) {
  std::vector<double> ratios;
  for (const BlockPair& block : blocks) ratios.push_back(block.baseline / block.method);
  return ratios.empty() ? kNaN : quantile(std::move(ratios), 0.5);
}

double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right) {
  assert(only_baseline_right >= 0 && only_method_right >= 0);
  const auto n = static_cast<double>(only_baseline_right + only_method_right);
  const auto k = static_cast<double>(std::min(only_baseline_right, only_method_right));
  // The tail C(n, 0) + ... + C(n, k) is C(n, k) times a sum that starts at 1 and whose terms
  // decrease.
  double term = 1, sum = 0;
  for (double i = k; i >= 0 && term > 0; --i) {
    sum += term;
    term *= i / (n - i + 1);
  }
  const double log_largest =
      std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0);
  return std::min(1.0, 2 * std::exp(log_largest) * sum);
}

double clustered_mcnemar(std::span<const std::int64_t> differences) {
  constexpr std::int64_t kMostExact = 20'000;
  std::int64_t sum = 0, most = 0, positive = 0, negative = 0, largest = 0;
  double squares = 0;
  for (const std::int64_t difference : differences) {
    const std::int64_t size = std::abs(difference);
    sum += difference;
    most += size;
    largest = std::max(largest, size);
    squares += static_cast<double>(size) * static_cast<double>(size);
    positive += difference > 0;
    negative += difference < 0;
  }
  if (largest <= 1) return mcnemar_exact(positive, negative);
  const std::int64_t away = std::abs(sum);
  if (most > kMostExact) return std::erfc(static_cast<double>(away) / std::sqrt(2 * squares));
  // share[s + most]: the share of sign choices so far with sum s.
  std::vector<double> share(static_cast<size_t>(2 * most + 1)), next(share.size());
  share[static_cast<size_t>(most)] = 1;
  std::int64_t reach = 0;
  for (const std::int64_t difference : differences) {
    const std::int64_t size = std::abs(difference);
    if (size == 0) continue;
    std::fill(next.begin(), next.end(), 0.0);
    for (std::int64_t s = most - reach; s <= most + reach; ++s) {
      const double half = share[static_cast<size_t>(s)] / 2;
      next[static_cast<size_t>(s - size)] += half;
      next[static_cast<size_t>(s + size)] += half;
    }
    reach += size;
    share.swap(next);
  }
  double p = 0;
  for (std::int64_t s = -most; s <= most; ++s)
    if (std::abs(s) >= away) p += share[static_cast<size_t>(s + most)];
  return std::min(1.0, p);
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto hypotheses_left = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, hypotheses_left * p_values[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

double quantile(std::vector<double> samples, double q) {
  assert(!samples.empty() && q >= 0 && q <= 1);
  if (!std::is_sorted(samples.begin(), samples.end())) std::sort(samples.begin(), samples.end());
  const double at = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double part = at - static_cast<double>(below);
  return samples[below] + (samples[above] - samples[below]) * part;
}

std::vector<double> kernel_density(std::span<const double> samples,
                                   std::span<const double> places) {
  const auto n = static_cast<double>(samples.size());
  double mean = 0, squares = 0;
  for (const double one : samples) mean += one / n;
  for (const double one : samples) squares += (one - mean) * (one - mean);
  if (samples.size() < 2 || squares == 0) return {};
  const double width = std::sqrt(squares / (n - 1)) * std::pow(n, -0.2);
  std::vector<double> density;
  for (const double place : places) {
    double sum = 0;
    for (const double one : samples)
      sum += std::exp(-0.5 * (place - one) * (place - one) / (width * width));
    density.push_back(sum / (n * width * std::sqrt(2 * std::numbers::pi)));
  }
  return density;
}

}  // namespace pardec
