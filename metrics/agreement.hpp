#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "metrics/statistics.hpp"

/// Agreement of judges: with themselves, with each other, with people. Pure functions. Labels are
/// numbers from the caller's own list.
namespace pardec {

/// The labels of two judges for the same item.
using LabelPair = std::pair<int, int>;

/// Cohen's kappa of two judges over the same items (Cohen 1960), unweighted. NaN: there are no
/// items, or both judges gave the same single label to all items, so that chance agreement is 1.
double cohen_kappa(std::span<const LabelPair> pairs);

/// The labels of all votes on one item; none: the vote is missing.
using Votes = std::vector<std::optional<double>>;

/// Fleiss' kappa over items with the same number of votes (Fleiss 1971). Items with missing votes
/// are left out. NaN: fewer than two votes, no items, or only one label. REQUIRES: items of equal
/// size.
double fleiss_kappa(std::span<const Votes> items);

/// Krippendorff's alpha with the ordinal metric (Krippendorff 2011). Missing votes are allowed;
/// items with fewer than two votes are ignored. Labels are ordered as numbers. NaN: nothing to
/// compare, or only one label.
double krippendorff_alpha_ordinal(std::span<const Votes> items);

/// The probability that two votes on an item differ: the share of differing pairs of votes,
/// averaged over items with two or more votes. NaN: there is no such item.
double flip_rate(std::span<const Votes> items);

/// The answer that a judge of two answers preferred, independent of their positions.
enum class Winner { method, baseline, tie };

/// One pair of answers, judged twice: with the method's answer shown first, and shown second. None:
/// that verdict is missing (refused, unreadable, failed).
struct PairVerdict {
  std::optional<Winner> method_first, method_second;

  /// The pair's outcome: the winner if both orders agree on one, otherwise a tie; none if a verdict
  /// is missing.
  std::optional<Winner> winner() const;
};

/// The influence of an answer's position on a judge, as shares of all pairs, which sum to 1.
/// Consistent: both orders have the same outcome. Otherwise the verdicts favour the answer shown
/// first (both times the first, or the first and a tie), or the second. NaN: no pairs.
struct PositionBias {
  double consistent, first, second, missing;
  std::int64_t pairs;
};
PositionBias position_bias(std::span<const PairVerdict> pairs);

/// Agreement of two judges on the same pairs.
struct PairAgreement {
  double all;          ///< over pairs that both judged; two ties agree
  std::int64_t pairs;  ///< number of these pairs
  double decided;      ///< over pairs without a tie
  std::int64_t decided_pairs;
  double kappa;  ///< Cohen's, over `pairs`
};
PairAgreement pair_agreement(std::span<const std::pair<Winner, Winner>> pairs);

}  // namespace pardec
