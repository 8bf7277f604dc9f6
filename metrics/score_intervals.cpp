#include "metrics/score_intervals.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

namespace pardec {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// With more clusters, similar values are joined into this many classes; the ends of an interval
/// change by less than the width of a class.
constexpr size_t kMostValues = 4096;

/// The score of an arm over all clusters, and without each cluster; and each cluster's share of the
/// mean.
struct LeaveOneOut {
  double all;
  std::vector<double> without, shares;
};

LeaveOneOut leave_one_out(std::span<const ScorePart> parts, std::int32_t clusters) {
  std::int32_t groups = 0;
  for (const ScorePart& part : parts) groups = std::max(groups, part.group + 1);
  struct Sums {
    double numerator = 0, denominator = 0;
  };
  std::vector<Sums> sums(static_cast<size_t>(groups));
  // start index of each cluster in `by_cluster`
  std::vector<size_t> begins(static_cast<size_t>(clusters) + 1);
  for (const ScorePart& part : parts) {
    sums[static_cast<size_t>(part.group)].numerator += part.numerator;
    sums[static_cast<size_t>(part.group)].denominator += part.denominator;
    ++begins[static_cast<size_t>(part.cluster) + 1];
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<const ScorePart*> by_cluster(parts.size());
  for (auto place = begins; const ScorePart& part : parts)
    by_cluster[place[static_cast<size_t>(part.cluster)]++] = &part;
  // The mean over groups is updated incrementally, since a cluster is part of few groups.
  double total = 0, count = 0;
  const auto add = [&](std::int32_t group, double sign) {
    const Sums& of_group = sums[static_cast<size_t>(group)];
    if (of_group.denominator <= 0) return;
    total += sign * of_group.numerator / of_group.denominator;
    count += sign;
  };
  const auto score = [&] { return count > 0 ? total / count : kNone; };
  for (std::int32_t group = 0; group < groups; ++group) add(group, 1);
  LeaveOneOut out{score(), {}, std::vector<double>(static_cast<size_t>(clusters))};
  const double whole = total, whole_count = count;
  for (const ScorePart& part : parts)
    if (const double all = sums[static_cast<size_t>(part.group)].denominator; all > 0)
      out.shares[static_cast<size_t>(part.cluster)] += part.denominator / all / count;
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

/// A cluster's own deviation from the mean, times its share: its influence on the mean. For a ratio
/// of sums, this is exact: (1 - share) (all - without) = share (own - all).
double influence(const LeaveOneOut& arm, size_t cluster) {
  const double without = arm.without[cluster];
  return std::isnan(without) ? 0 : (1 - arm.shares[cluster]) * (arm.all - without);
}

ClusterMean level_of(const LeaveOneOut& arm, ScoreRange range) {
  std::vector<ClusterMean::Value> values;
  for (size_t c = 0; c < arm.shares.size(); ++c)
    if (const double share = arm.shares[c]; share > 0)
      values.push_back({arm.all + influence(arm, c) / share, share});
  return {std::move(values), range};
}

ClusterMean difference_of(const LeaveOneOut& before, const LeaveOneOut& after, double width) {
  std::vector<ClusterMean::Value> values;
  for (size_t c = 0; c < after.shares.size(); ++c)
    if (const double share = (before.shares[c] + after.shares[c]) / 2; share > 0)
      values.push_back(
          {after.all - before.all + (influence(after, c) - influence(before, c)) / share, share});
  return {std::move(values), {-width, width}};
}

/// The largest possible difference of two scores of one answer; if unknown, the largest difference
/// between clusters.
double width_of(const LeaveOneOut& before, const LeaveOneOut& after,
                std::optional<ScoreRange> range) {
  if (range && std::isfinite(range->most - range->least)) return range->most - range->least;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const LeaveOneOut* arm : {&before, &after})
    for (size_t c = 0; c < arm->shares.size(); ++c)
      if (arm->shares[c] > 0) {
        const double own = arm->all + influence(*arm, c) / arm->shares[c];
        least = std::min(least, own);
        most = std::max(most, own);
      }
  return std::max(0.0, most - least);
}

}  // namespace

ClusterMean::ClusterMean(std::vector<Value> values, ScoreRange range)
    : values_(std::move(values)), range_(range) {
  std::erase_if(values_, [](const Value& value) { return !(value.share > 0); });
  clusters_ = std::ssize(values_);
  if (values_.empty()) {
    mean_ = kNone;
    return;
  }
  double sum = 0;
  std::vector<double> shares;
  for (const Value& value : values_) {
    sum += value.share;
    shares.push_back(value.share);
  }
  effective_ = effective_count(shares);
  for (Value& value : values_) {
    value.share /= sum;
    mean_ += value.share * value.value;
  }
  const auto [least, most] =
      std::minmax_element(values_.begin(), values_.end(),
                          [](const Value& a, const Value& b) { return a.value < b.value; });
  const double low = least->value, high = most->value;
  range_ = {std::isfinite(range.least) ? std::min(range.least, low) : low,
            std::isfinite(range.most) ? std::max(range.most, high) : high};
  if (values_.size() <= kMostValues || low == high) return;
  std::vector<Value> classes(kMostValues);  // value: share times value, summed
  for (const Value& value : values_) {
    Value& of =
        classes[std::min(kMostValues - 1, static_cast<size_t>((value.value - low) / (high - low) *
                                                              static_cast<double>(kMostValues)))];
    of.value += value.share * value.value;
    of.share += value.share;
  }
  std::erase_if(classes, [](const Value& value) { return value.share == 0; });
  for (Value& value : classes) value.value /= value.share;
  values_ = std::move(classes);
}

double ClusterMean::distance_from(double mean) const {
  // The most likely distribution with this mean assigns the mass share / (1 + tilt (value - mean))
  // to a value, and the remaining mass to the least value of the range. The condition 1 + tilt
  // (least - mean) >= 0 bounds the tilt.
  const double largest = 1 / (mean - range_.least);
  const auto slope = [&](double tilt) {
    double sum = 0;
    for (const Value& value : values_) {
      const double away = value.value - mean, divisor = 1 + tilt * away;
      if (divisor <= 0) return -std::numeric_limits<double>::infinity();
      sum += value.share * away / divisor;
    }
    return sum;
  };
  double tilt = largest;
  const bool unseen = slope(largest * (1 - 1e-12)) >= 0;
  if (!unseen) {
    double low = 0, high = largest;
    for (int i = 0; i < 100 && high - low > 1e-13 * largest; ++i) {
      const double middle = (low + high) / 2;
      (slope(middle) > 0 ? low : high) = middle;
    }
    tilt = low;
  }
  double variance = 0, seen = 0;
  for (const Value& value : values_) {
    const double away = value.value - mean, divisor = 1 + tilt * away;
    const double mass = divisor > 0 ? value.share / divisor : 0;
    seen += mass;
    variance += mass * away * away;
  }
  if (unseen) variance += std::max(0.0, 1 - seen) * (range_.least - mean) * (range_.least - mean);
  return (mean_ - mean) * (mean_ - mean) / variance;
}

double ClusterMean::lower_end(double critical) const {
  if (mean_ <= range_.least) return range_.least;
  double low = range_.least, high = mean_;
  const double width = range_.most - range_.least;
  for (int i = 0; i < 60 && high - low > 1e-9 * width; ++i) {
    const double middle = (low + high) / 2;
    (effective_ * distance_from(middle) > critical * critical ? low : high) = middle;
  }
  return low;
}

ClusterMean ClusterMean::mirrored() const {
  ClusterMean other = *this;
  for (Value& value : other.values_) value.value = -value.value;
  other.mean_ = -mean_;
  other.range_ = {-range_.most, -range_.least};
  return other;
}

Interval ClusterMean::interval(double confidence) const {
  // All values are equal except for rounding, and the range is unknown.
  const double width = range_.most - range_.least;
  if (clusters_ < 2 || !(width > 1e-12 * std::max(1.0, std::abs(mean_))))
    return {mean_, kNone, kNone};
  const double critical =
      student_t_quantile(0.5 + confidence / 2, static_cast<double>(clusters_ - 1));
  return {mean_, lower_end(critical), -mirrored().lower_end(critical)};
}

std::optional<std::int64_t> ClusterMean::clusters_above(double limit, double confidence) const {
  constexpr double kMost = 1e6;
  if (clusters_ < 2 || !(mean_ > limit) || !(limit > range_.least)) return std::nullopt;
  // Clusters with unequal shares count as fewer.
  const double each = distance_from(limit) * effective_ / static_cast<double>(clusters_);
  double count = static_cast<double>(clusters_);
  for (int i = 0; i < 20; ++i) {  // Student's value changes little with the count
    const double critical = student_t_quantile(0.5 + confidence / 2, std::max(1.0, count - 1));
    count = critical * critical / each;
    if (!(count <= kMost)) return std::nullopt;
  }
  return static_cast<std::int64_t>(std::floor(count)) + 1;
}

ScoreIntervals score_intervals(std::span<const ScorePart> baseline,
                               std::span<const ScorePart> method, std::int32_t clusters,
                               std::optional<ScoreRange> range, double confidence) {
  assert(confidence > 0 && confidence < 1);
  const Interval none{kNone, kNone, kNone};
  if (method.empty() || clusters == 0) return {none, none, none, std::nullopt};
  const LeaveOneOut after = leave_one_out(method, clusters);
  const auto interval = [&](double estimate, const std::vector<double>& without,
                            const ClusterMean& mean) {
    const Interval student = jackknife_interval(estimate, without, confidence, mean.effective());
    if (!range) return student;
    const Interval score = mean.interval(confidence);
    return std::isnan(score.low) ? score : hull(student, score);
  };
  const ClusterMean level = level_of(after, range.value_or(kNoRange));
  ScoreIntervals out{interval(after.all, after.without, level), none, none, std::nullopt};
  if (baseline.empty()) return out;
  const LeaveOneOut before = leave_one_out(baseline, clusters);
  out.differences = difference_of(before, after, width_of(before, after, range));
  const ClusterMean& differences = *out.differences;
  std::vector<double> less, ratios;
  for (size_t c = 0; c < after.without.size(); ++c) {
    less.push_back(after.without[c] - before.without[c]);
    ratios.push_back(std::log(after.without[c] / before.without[c]));
  }
  out.difference = interval(after.all - before.all, less, differences);
  const double ratio = after.all / before.all;
  const Interval log =
      jackknife_interval(std::log(ratio), ratios, confidence, differences.effective());
  out.ratio = {ratio, std::exp(log.low), std::exp(log.high)};
  if (range && before.all > 0) {
    const Interval seen = differences.interval(confidence);
    out.ratio = hull(out.ratio,
                     {ratio, std::max(0.0, 1 + seen.low / before.all), 1 + seen.high / before.all});
  }
  return out;
}

}  // namespace pardec
