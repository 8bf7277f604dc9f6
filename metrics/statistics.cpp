#include "metrics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
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

Interval jackknife_interval(double estimate, std::span<const double> without, double confidence) {
  const auto n = static_cast<double>(without.size());
  if (without.size() < 2) return {estimate, kNaN, kNaN};
  const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  const double half =
      student_t_quantile(0.5 + confidence / 2, n - 1) * std::sqrt(squares * (n - 1) / n);
  return std::isfinite(half) ? Interval{estimate, estimate - half, estimate + half}
                             : Interval{estimate, kNaN, kNaN};
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
  BlockPair all{0, 0};
  for (const BlockPair& block : blocks) {
    all.baseline += block.baseline;
    all.method += block.method;
  }
  std::vector<double> without;
  for (const BlockPair& block : blocks)
    without.push_back(std::log((all.baseline - block.baseline) / (all.method - block.method)));
  if (blocks.empty()) return {kNaN, kNaN, kNaN};
  const double ratio = all.baseline / all.method;
  const Interval log = jackknife_interval(std::log(ratio), without, confidence);
  return {ratio, std::exp(log.low), std::exp(log.high)};
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

namespace {

/// The score of an arm: of all clusters, and without each.
struct LeaveOneOut {
  double all;
  std::vector<double> without;
};

LeaveOneOut leave_one_out(std::span<const ScorePart> parts, std::int32_t clusters) {
  std::int32_t groups = 0;
  for (const ScorePart& part : parts) groups = std::max(groups, part.group + 1);
  struct Sums {
    double numerator = 0, denominator = 0;
  };
  std::vector<Sums> sums(static_cast<size_t>(groups));
  std::vector<size_t> begins(static_cast<size_t>(clusters) + 1);  // of clusters in `by_cluster`
  for (const ScorePart& part : parts) {
    sums[static_cast<size_t>(part.group)].numerator += part.numerator;
    sums[static_cast<size_t>(part.group)].denominator += part.denominator;
    ++begins[static_cast<size_t>(part.cluster) + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<const ScorePart*> by_cluster(parts.size());
  for (auto place = begins; const ScorePart& part : parts)
    by_cluster[place[static_cast<size_t>(part.cluster)]++] = &part;
  // The mean over groups, of which a cluster touches few.
  double total = 0, count = 0;
  const auto add = [&](std::int32_t group, double sign) {
    const Sums& of_group = sums[static_cast<size_t>(group)];
    if (of_group.denominator <= 0) return;
    total += sign * of_group.numerator / of_group.denominator;
    count += sign;
  };
  const auto score = [&] { return count > 0 ? total / count : kNaN; };
  for (std::int32_t group = 0; group < groups; ++group) add(group, 1);
  LeaveOneOut out{score(), {}};
  const double whole = total, whole_count = count;
  out.without.reserve(static_cast<size_t>(clusters));
  std::vector<std::pair<std::int32_t, Sums>> before;
  for (size_t cluster = 0; cluster + 1 < begins.size(); ++cluster) {
    before.clear();
    for (size_t i = begins[cluster]; i < begins[cluster + 1]; ++i) {
      const ScorePart* part = by_cluster[i];
      Sums& of_group = sums[static_cast<size_t>(part->group)];
      before.emplace_back(part->group, of_group);
      add(part->group, -1);
      of_group.numerator -= part->numerator;
      of_group.denominator -= part->denominator;
      add(part->group, 1);
    }
    out.without.push_back(score());
    std::for_each(before.rbegin(), before.rend(),
                  [&](const auto& old) { sums[static_cast<size_t>(old.first)] = old.second; });
    total = whole;
    count = whole_count;
  }
  return out;
}

}  // namespace

ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (method.empty() || clusters == 0) return {{kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN}};
  const LeaveOneOut before = leave_one_out(baseline, clusters),
                    after = leave_one_out(method, clusters);
  std::vector<double> differences;
  for (size_t c = 0; c < after.without.size(); ++c)
    differences.push_back(after.without[c] - before.without[c]);
  return {jackknife_interval(after.all, after.without, confidence),
          jackknife_interval(after.all - before.all, differences, confidence)};
}

double mcnemar_exact(std::int64_t only_baseline_right, std::int64_t only_method_right) {
  assert(only_baseline_right >= 0 && only_method_right >= 0);
  const auto n = static_cast<double>(only_baseline_right + only_method_right);
  const auto k = static_cast<double>(std::min(only_baseline_right, only_method_right));
  // The tail C(n, 0) + ... + C(n, k) is C(n, k) times a sum that starts at 1 and shrinks with each
  // term.
  double term = 1, sum = 0;
  for (double i = k; i >= 0 && term > 0; --i) {
    sum += term;
    term *= i / (n - i + 1);
  }
  const double log_largest =
      std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0);
  return std::min(1.0, 2 * std::exp(log_largest) * sum);
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

}  // namespace pardec
