#include "metrics/agreement.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>

#include "metrics/ratio.hpp"

namespace pardec {

namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Number of votes per label of an item.
std::map<double, double> label_counts(const Votes& item) {
  std::map<double, double> counts;
  for (const auto& vote : item)
    if (vote) ++counts[*vote];
  return counts;
}

double votes_in(const std::map<double, double>& counts) {
  double sum = 0;
  for (const auto& [label, count] : counts) sum += count;
  return sum;
}

/// Number of ordered pairs of equal votes.
double equal_pairs(const std::map<double, double>& counts) {
  double sum = 0;
  for (const auto& [label, count] : counts) sum += count * (count - 1);
  return sum;
}

}  // namespace

double cohen_kappa(std::span<const LabelPair> pairs) {
  std::map<int, std::pair<double, double>> margins;
  double equal = 0;
  for (const auto& [a, b] : pairs) {
    ++margins[a].first;
    ++margins[b].second;
    equal += a == b;
  }
  const auto n = static_cast<double>(pairs.size());
  double by_chance = 0;
  for (const auto& [label, margin] : margins) by_chance += margin.first * margin.second;
  return ratio_or_nan(equal * n - by_chance, n * n - by_chance);
}

double fleiss_kappa(std::span<const Votes> items) {
  std::map<double, double> totals;
  double agreement = 0, n = 0, votes = 0;
  for (const Votes& item : items) {
    assert(item.size() == items.front().size());
    const auto counts = label_counts(item);
    if (votes_in(counts) < static_cast<double>(item.size()) || item.size() < 2) continue;
    votes = static_cast<double>(item.size());
    for (const auto& [label, count] : counts) totals[label] += count;
    agreement += equal_pairs(counts) / (votes * (votes - 1));
    ++n;
  }
  if (n == 0) return kUndefined;
  double by_chance = 0;
  for (const auto& [label, total] : totals) by_chance += total * total;
  by_chance /= n * votes * n * votes;
  return ratio_or_nan(agreement / n - by_chance, 1 - by_chance);
}

double krippendorff_alpha_ordinal(std::span<const Votes> items) {
  // Coincidences: ordered pairs of votes on one item, weighted so that an item counts as often as
  // it has votes.
  std::map<double, double> totals;
  std::map<std::pair<double, double>, double> coincidences;
  double n = 0;
  for (const Votes& item : items) {
    const auto counts = label_counts(item);
    const double votes = votes_in(counts);
    if (votes < 2) continue;
    n += votes;
    for (const auto& [a, count] : counts) {
      totals[a] += count;
      for (const auto& [b, other] : counts)
        coincidences[{a, b}] += count * (a == b ? other - 1 : other) / (votes - 1);
    }
  }
  // The square of the number of votes between two labels, including half of the votes for the
  // labels themselves.
  const auto distance = [&](double a, double b) {
    if (a > b) std::swap(a, b);
    double between = 0;
    for (auto label = totals.find(a); label != totals.end() && label->first <= b; ++label)
      between += label->second;
    between -= (totals.at(a) + totals.at(b)) / 2;
    return a == b ? 0.0 : between * between;
  };
  double observed = 0, expected = 0;
  for (const auto& [labels, weight] : coincidences)
    observed += weight * distance(labels.first, labels.second);
  for (const auto& [a, count] : totals)
    for (const auto& [b, other] : totals) expected += count * other * distance(a, b);
  return 1 - ratio_or_nan((n - 1) * observed, expected);
}

double flip_rate(std::span<const Votes> items) {
  double sum = 0, n = 0;
  for (const Votes& item : items) {
    const auto counts = label_counts(item);
    const double votes = votes_in(counts);
    if (votes < 2) continue;
    sum += 1 - equal_pairs(counts) / (votes * (votes - 1));
    ++n;
  }
  return ratio_or_nan(sum, n);
}

std::optional<Winner> PairVerdict::winner() const {
  if (!method_first || !method_second) return std::nullopt;
  return *method_first == *method_second ? *method_first : Winner::tie;
}

PositionBias position_bias(std::span<const PairVerdict> pairs) {
  // Whether a verdict favours the first position: 1 (first), 0 (tie) or -1 (second).
  const auto lean = [](Winner winner, Winner first) {
    return winner == Winner::tie ? 0 : winner == first ? 1 : -1;
  };
  double consistent = 0, first = 0, second = 0, missing = 0;
  for (const PairVerdict& pair : pairs) {
    if (!pair.winner()) {
      ++missing;
      continue;
    }
    const int to_first =
        lean(*pair.method_first, Winner::method) + lean(*pair.method_second, Winner::baseline);
    (to_first == 0 ? consistent : to_first > 0 ? first : second) += 1;
  }
  const auto n = static_cast<double>(pairs.size());
  return {ratio_or_nan(consistent, n), ratio_or_nan(first, n), ratio_or_nan(second, n),
          ratio_or_nan(missing, n), std::ssize(pairs)};
}

PairAgreement pair_agreement(std::span<const std::pair<Winner, Winner>> pairs) {
  std::vector<LabelPair> labels;
  std::int64_t equal = 0, decided = 0, equal_decided = 0;
  for (const auto& [a, b] : pairs) {
    labels.emplace_back(static_cast<int>(a), static_cast<int>(b));
    equal += a == b;
    if (a == Winner::tie || b == Winner::tie) continue;
    ++decided;
    equal_decided += a == b;
  }
  return {ratio_or_nan(static_cast<double>(equal), static_cast<double>(pairs.size())),
          std::ssize(pairs),
          ratio_or_nan(static_cast<double>(equal_decided), static_cast<double>(decided)), decided,
          cohen_kappa(labels)};
}

}  // namespace pardec
