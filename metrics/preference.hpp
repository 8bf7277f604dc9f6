#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/statistics.hpp"

/// Which of several arms writes the better answers, from pairs of answers that were compared. Pure
/// functions without chance; intervals are jackknives over clusters, as of score_intervals, or,
/// where there are more than 200, over 200 groups of them.
namespace pardec {

/// Outcomes of the method against its baseline.
struct Outcomes {
  std::int64_t wins = 0, ties = 0, losses = 0;

  std::int64_t pairs() const { return wins + ties + losses; }
  /// (W + T / 2) / N. NaN: no pairs.
  double win_rate() const;
  /// The HPD paper's performance (Figure 8), x = (W + T) / (T + L), which it shows "normalized to
  /// 0-100" without saying how; x / (1 + x) is one reading. NaN where the divisor is 0.
  double hpd_ratio() const;
  double hpd_ratio_normalised() const;
};

/// One comparison: `score` 1 where arm `a` was better, .5 for a tie, 0 where `b` was.
struct Game {
  int a, b;
  double score;
  std::int32_t cluster;  ///< from 0 on
};

/// Bradley-Terry strengths (Bradley and Terry 1952), a tie being half a win of each: natural
/// logarithms whose mean is 0; e^(a - b) are the odds that a's answer is preferred to b's. Ends by
/// the jackknife over clusters. NaN for all where some set of arms never lost a point to the
/// others, so that their strengths have no bounds. REQUIRES: 0 <= a, b < arms, a != b.
std::vector<Interval> bradley_terry(std::span<const Game> games, int arms, std::int32_t clusters,
                                    double confidence = 0.95);

/// One pair with how much longer the method's answer is than the baseline's, in whatever unit.
struct LengthPair {
  double score;       ///< 1, .5 or 0, as in Game
  double difference;  ///< of lengths, method - baseline
  std::int32_t cluster;
};

/// The win rate of answers of equal length: a logistic regression of the outcome on an intercept
/// and tanh(difference / its standard deviation), read where the difference is 0. The idea is
/// AlpacaEval's (Dubois et al. 2024); this has no term for the difficulty of prompts, so it is
/// another number than its length-controlled win rate. NaN where the outcomes bound it not.
Interval length_adjusted_win_rate(std::span<const LengthPair> pairs, std::int32_t clusters,
                                  double confidence = 0.95);

}  // namespace pardec
