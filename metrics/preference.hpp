#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Ranks arms by the quality of their answers, from comparisons of pairs of answers. Deterministic,
/// pure functions. Intervals are jackknives over clusters, as in score_intervals; with more than
/// 200 clusters, over 200 groups of them.
namespace pardec {

/// Outcomes of the method against its baseline.
struct Outcomes {
  std::int64_t wins = 0, ties = 0, losses = 0;

  std::int64_t pairs() const { return wins + ties + losses; }
  /// (W + T / 2) / N. NaN: no pairs.
  double win_rate() const;
  /// The HPD paper's performance (Figure 8), x = (W + T) / (T + L). The paper shows it "normalized
  /// to 0-100" without a formula; x / (1 + x) is one interpretation. NaN if the divisor is 0.
  double hpd_ratio() const;
  double hpd_ratio_normalised() const;
};

/// One comparison. `score`: 1 if arm `a` was better, 0.5 for a tie, 0 if `b` was better.
struct Game {
  int a, b;
  double score;
  std::int32_t cluster;  ///< from 0
};

/// Bradley-Terry strengths (Bradley and Terry 1952), with a tie as half a win for each arm.
/// Strengths are natural logarithms with mean 0; e^(a - b) are the odds that a's answer is
/// preferred to b's. Intervals by the jackknife over clusters. All NaN if some set of arms never
/// lost a point to the others, because strengths are then unbounded. REQUIRES: 0 <= a, b < arms, a
/// != b.
std::vector<Interval> bradley_terry(std::span<const Game> games, int arms, std::int32_t clusters,
                                    double confidence = 0.95);

/// One pair, with the difference in length between the method's answer and the baseline's, in any
/// unit.
struct LengthPair {
  double score;       ///< 1, 0.5 or 0, as in Game
  double difference;  ///< of lengths, method - baseline
  std::int32_t cluster;
};

/// The win rate for answers of equal length: a logistic regression of the outcome on an intercept
/// and tanh(difference / its standard deviation), evaluated at difference 0. The idea is
/// AlpacaEval's (Dubois et al. 2024). This regression has no term for the difficulty of prompts, so
/// its result differs from AlpacaEval's length-controlled win rate. NaN if the outcomes do not
/// determine it.
Interval length_adjusted_win_rate(std::span<const LengthPair> pairs, std::int32_t clusters,
                                  double confidence = 0.95);

}  // namespace pardec
