#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "metrics/statistics.hpp"

/// How far judges agree: with themselves, with each other, with people. Pure functions; labels are
/// numbers from the caller's own list.
namespace pardec {

/// What two judges said of the same thing.
using LabelPair = std::pair<int, int>;

/// Cohen's kappa of two judges over the same items (Cohen 1960), unweighted. NaN: no items, or both
/// said one and the same of all of them, so that chance alone would agree.
double cohen_kappa(std::span<const LabelPair> pairs);

/// What each vote said of one item; none: that vote is missing.
using Votes = std::vector<std::optional<double>>;

/// Fleiss' kappa over items with equally many votes (Fleiss 1971); an item with a missing vote is
/// left out. NaN: fewer than two votes, no items, or one label alone. REQUIRES: items of one size.
double fleiss_kappa(std::span<const Votes> items);

/// Krippendorff's alpha with the ordinal metric (Krippendorff 2011); missing votes are allowed, an
/// item with fewer than two counts for nothing. The order of labels is that of their numbers. NaN:
/// nothing to compare, or one label alone.
double krippendorff_alpha_ordinal(std::span<const Votes> items);

/// How often two votes on one item differ: mean over items with two or more votes of the share of
/// its pairs of votes that differ. NaN: no such item.
double flip_rate(std::span<const Votes> items);

/// Who a judge of two answers preferred: which of them, whatever place it was shown at.
enum class Winner { method, baseline, tie };

/// One pair of answers, judged twice: with the method's answer shown first, and shown second. None:
/// that verdict is missing (refused, unreadable, failed).
struct PairVerdict {
  std::optional<Winner> method_first, method_second;

  /// The pair's outcome: a tie unless both orders name one winner; none where a verdict is missing.
  std::optional<Winner> winner() const;
};

/// What the place of an answer does to a judge, as shares of all pairs; they sum to 1. Consistent:
/// both orders have one outcome. Otherwise the verdicts lean to the answer that is shown first
/// (twice first, or first and a tie), or to the second. NaN: no pairs.
struct PositionBias {
  double consistent, first, second, missing;
  std::int64_t pairs;
};
PositionBias position_bias(std::span<const PairVerdict> pairs);

/// How often two judges of the same pairs say the same.
struct PairAgreement {
  double all;          ///< over pairs that both judged; a tie agrees with a tie
  std::int64_t pairs;  ///< those
  double decided;      ///< over pairs of which neither is a tie
  std::int64_t decided_pairs;
  double kappa;  ///< Cohen's, over `pairs`
};
PairAgreement pair_agreement(std::span<const std::pair<Winner, Winner>> pairs);

}  // namespace pardec
