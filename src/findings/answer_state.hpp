#pragma once
#include <cstdint>
#include <string>

#include "src/scoring/score_table.hpp"

namespace pardec {

/// From this share of the answers on, how they ended is said.
inline constexpr double kWorthSaying = 0.1;

/// How an arm's answers ended.
struct AnswerState {
  std::int64_t answers = 0;    ///< of all repeats
  std::int64_t failed = 0;     ///< with an error in their place
  std::int64_t hit_limit = 0;  ///< or most of their fields did
  std::int64_t unparsed = 0;   ///< no object could be read
  std::int64_t empty = 0;
  /// Failed, unparsed, empty or, where an answer has an end of its own, at the limit.
  std::int64_t broken = 0;
  double tokens = 0;          ///< of text, mean over answers
  double thought = 0;         ///< ids of thought, mean over answers
  std::string outside_rouge;  ///< of task_metrics.hpp, from kWorthSaying on

  /// Neither speed nor scores say anything then.
  bool mostly_broken() const { return 2 * broken > answers; }
};

/// `scores`: of the same answers.
AnswerState state_of(const RunFigures& run, const ScoreTable& scores);

}  // namespace pardec
