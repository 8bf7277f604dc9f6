#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Compares arms by a judge's preferences between pairs of answers. Deterministic, pure functions.
/// Intervals are jackknife intervals over clusters (jackknife_interval; all clusters count
/// equally). With more than 200 clusters, the clusters are joined into 200 groups, and intervals
/// are over groups.
namespace pardec {

/// How many pairs the method won, tied and lost against its baseline.
struct Outcomes {
  std::int64_t wins = 0, ties = 0, losses = 0;

  std::int64_t pairs() const { return wins + ties + losses; }
  /// (wins + ties / 2) / pairs; NaN if there are no pairs.
  double win_rate() const;
  /// The HPD paper's performance (Figure 8): x = (wins + ties) / (ties + losses). NaN if the
  /// divisor is 0.
  double hpd_ratio() const;
  /// The paper shows x "normalized to 0-100" without a formula. This is one interpretation:
  /// x / (1 + x), from 0 to 1. NaN if there are no pairs.
  double hpd_ratio_normalised() const;
};

/// One comparison of two arms.
struct Game {
  int a, b;              ///< the arms, numbered from 0
  double score;          ///< 1 if arm `a` was better, 0.5 for a tie, 0 if arm `b` was better
  std::int32_t cluster;  ///< number of the pair's cluster, from 0
};

/// The Bradley-Terry strengths of arms (Bradley and Terry 1952). A tie is half a win for each arm.
/// Strengths are natural logarithms with mean 0: if arms a and b have strengths s and t, e^(s - t)
/// are the odds that a's answer is preferred to b's. All strengths are NaN if some set of arms
/// never lost a point to the other arms, because the strengths are then unbounded. If the strengths
/// become unbounded when one of the clusters is left out, there are no intervals. Returns one
/// interval per arm, in the order of the arms' numbers. `arms`, `clusters`: how many arms and
/// clusters there are. REQUIRES: there is at least one arm; 0 <= a, b < arms, and a != b.
std::vector<Interval> bradley_terry(std::span<const Game> games, int arms, std::int32_t clusters,
                                    double confidence = 0.95);

/// One pair of answers, and the difference of their lengths in any unit.
struct LengthPair {
  double score;          ///< 1 if the method's answer was better, 0.5 for a tie, otherwise 0
  double difference;     ///< length of the method's answer minus length of the baseline's answer
  std::int32_t cluster;  ///< number of the pair's cluster, from 0
};

/// The win rate that would be expected for answers of equal length, from 0 to 1. The result is a
/// logistic regression of the outcome on an intercept and tanh(difference / standard deviation of
/// the differences), evaluated at difference 0. If all differences are equal, the regression has
/// only the intercept. The idea is AlpacaEval's (Dubois et al. 2024). Unlike AlpacaEval's
/// length-controlled win rate, the regression has no term for the difficulty of prompts. The result
/// is NaN if the outcomes do not determine the regression, e.g. if the method wins all pairs. If
/// the outcomes without one of the clusters do not determine the regression, there is no interval.
/// `clusters`: how many clusters there are.
Interval length_adjusted_win_rate(std::span<const LengthPair> pairs, std::int32_t clusters,
                                  double confidence = 0.95);

}  // namespace pardec
