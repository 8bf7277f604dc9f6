#include "metrics/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "src/support/rng.hpp"

namespace pardec {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Totals of one resample, or of the data: everything that a statistic here is made of.
struct Totals {
  double baseline = 0, method = 0;
};

Totals& operator+=(Totals& totals, const BlockPair& block) {
  totals.baseline += block.baseline;
  totals.method += block.method;
  return totals;
}

/// Percentile bootstrap of `statistic` of the totals. Both arms of a unit are always drawn
/// together.
template <typename Unit, typename Statistic>
Interval bootstrap(std::span<const Unit> units, const Statistic& statistic, double confidence,
                   int resamples, std::uint64_t seed) {
  assert(confidence > 0 && confidence < 1 && resamples > 0);
  if (units.empty()) return {kNaN, kNaN, kNaN};
  Totals data;
  for (const Unit& unit : units) data += unit;

  Rng rng(seed);
  std::vector<double> resampled(static_cast<size_t>(resamples));
  for (double& value : resampled) {
    Totals totals;
    for (size_t i = 0; i < units.size(); ++i) totals += units[rng.below(units.size())];
    value = statistic(totals);
  }
  const double tail = (1 - confidence) / 2;
  return {statistic(data), quantile(resampled, tail), quantile(resampled, 1 - tail)};
}

}  // namespace

Interval ratio_of_totals(std::span<const BlockPair> blocks, double confidence, int resamples,
                         std::uint64_t seed) {
  const auto ratio = [](const Totals& totals) { return totals.baseline / totals.method; };
  return bootstrap(blocks, ratio, confidence, resamples, seed);
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

/// The parts of an arm, cluster by cluster.
class ScoreByCluster {
 public:
  ScoreByCluster(std::span<const ScorePart> parts, std::int32_t clusters)
      : parts_(parts.begin(), parts.end()), begin_(static_cast<size_t>(clusters) + 1) {
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const ScorePart& a, const ScorePart& b) { return a.cluster < b.cluster; });
    std::int32_t groups = 0;
    for (const ScorePart& part : parts_) {
      ++begin_[static_cast<size_t>(part.cluster) + 1];
      groups = std::max(groups, part.group + 1);
    }
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    numerators_.resize(static_cast<size_t>(groups));
    denominators_.resize(static_cast<size_t>(groups));
  }

  /// Of clusters that were drawn so often each.
  double score(std::span<const int> times) {
    std::fill(numerators_.begin(), numerators_.end(), 0.0);
    std::fill(denominators_.begin(), denominators_.end(), 0.0);
    for (size_t cluster = 0; cluster < times.size(); ++cluster)
      if (const double weight = times[cluster]; weight > 0)
        for (size_t i = begin_[cluster]; i < begin_[cluster + 1]; ++i) {
          const auto group = static_cast<size_t>(parts_[i].group);
          numerators_[group] += weight * parts_[i].numerator;
          denominators_[group] += weight * parts_[i].denominator;
        }
    double sum = 0, count = 0;
    for (size_t group = 0; group < numerators_.size(); ++group)
      if (denominators_[group] > 0) {
        sum += numerators_[group] / denominators_[group];
        ++count;
      }
    return count > 0 ? sum / count : kNaN;
  }

 private:
  std::vector<ScorePart> parts_;
  std::vector<size_t> begin_;  // of a cluster's parts
  std::vector<double> numerators_, denominators_;
};

/// A draw may hold nothing that is scored: such draws are left out.
Interval interval_of(double estimate, std::vector<double> drawn, double confidence) {
  std::erase_if(drawn, [](double value) { return std::isnan(value); });
  if (drawn.empty()) return {estimate, kNaN, kNaN};
  const double tail = (1 - confidence) / 2;
  return {estimate, quantile(drawn, tail), quantile(drawn, 1 - tail)};
}

}  // namespace

ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               double confidence, int resamples, std::uint64_t seed) {
  assert(confidence > 0 && confidence < 1 && resamples > 0);
  if (method.empty() || clusters == 0) return {{kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN}};
  ScoreByCluster before(baseline, clusters), after(method, clusters);
  std::vector<int> times(static_cast<size_t>(clusters), 1);
  const double first = before.score(times), second = after.score(times);
  Rng rng(seed);
  std::vector<double> scores, differences;
  for (int r = 0; r < resamples; ++r) {
    std::fill(times.begin(), times.end(), 0);
    for (std::int32_t i = 0; i < clusters; ++i) ++times[rng.below(times.size())];
    scores.push_back(after.score(times));
    differences.push_back(scores.back() - before.score(times));
  }
  return {interval_of(second, std::move(scores), confidence),
          interval_of(second - first, std::move(differences), confidence)};
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
  std::sort(samples.begin(), samples.end());
  const double at = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double part = at - static_cast<double>(below);
  return samples[below] + (samples[above] - samples[below]) * part;
}

}  // namespace pardec
