#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "metrics/statistics.hpp"

/// Agreement of judges with themselves, with each other, and with people. Pure functions. Labels
/// are numbers that the caller assigns.
namespace pardec {

/// The labels of two judges for the same item.
using LabelPair = std::pair<int, int>;

/// Cohen's kappa (Cohen 1960, unweighted) of two judges over the same items. NaN: there are no
/// items, or both judges gave all items the same label, so that chance agreement is 1.
double cohen_kappa(std::span<const LabelPair> pairs);

/// The labels of all votes on one item, one entry per vote. None: the vote is missing.
using Votes = std::vector<std::optional<double>>;

/// Fleiss' kappa (Fleiss 1971). Items with missing votes are left out. NaN: there are no items,
/// fewer than two votes per item, or only one label. REQUIRES: all items have the same number of
/// votes, including missing ones.
double fleiss_kappa(std::span<const Votes> items);

/// Krippendorff's alpha with the ordinal metric (Krippendorff 2011). Votes may be missing; items
/// with fewer than two votes are ignored. Labels are ordered as numbers. NaN: no item has two
/// votes, or there is only one label.
double krippendorff_alpha_ordinal(std::span<const Votes> items);

/// The probability that two votes on an item differ: the share of pairs of votes that differ,
/// averaged over items with at least two votes. NaN: there is no such item.
double flip_rate(std::span<const Votes> items);

/// The answer that a judge preferred, regardless of the order in which the two answers were shown.
enum class Winner { method, baseline, tie };

/// The two verdicts on one pair of answers: `method_first` was given with the method's answer shown
/// first, and `method_second` with the method's answer shown second. None: the verdict is missing
/// (refused, not readable, failed).
struct PairVerdict {
  std::optional<Winner> method_first, method_second;

  /// The outcome: the winner if both verdicts agree, otherwise a tie. None: a verdict is missing.
  std::optional<Winner> winner() const;
};

/// The influence of the order of the answers on a judge. The four shares of all pairs sum to 1, and
/// are NaN if there are no pairs.
struct PositionBias {
  double consistent;  ///< both orders have the same outcome
  /// The answer shown first wins in both orders, or wins in one order with a tie in the other.
  double first;
  /// The answer shown second wins in both orders, or wins in one order with a tie in the other.
  double second;
  double missing;      ///< a verdict is missing
  std::int64_t pairs;  ///< number of pairs
};
PositionBias position_bias(std::span<const PairVerdict> pairs);

/// The agreement of two judges on the same pairs. A share of no pairs is NaN.
struct PairAgreement {
  double all;                  ///< share of pairs with the same winner; two ties agree
  std::int64_t pairs;          ///< number of pairs
  double decided;              ///< share of the decided pairs with the same winner
  std::int64_t decided_pairs;  ///< number of pairs for which neither judge says tie
  double kappa;                ///< Cohen's kappa over all pairs (cohen_kappa)
};
PairAgreement pair_agreement(std::span<const std::pair<Winner, Winner>> pairs);

}  // namespace pardec
