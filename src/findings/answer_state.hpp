#pragma once
#include <cstdint>
#include <string>

#include "src/scoring/score_table.hpp"

namespace pardec {

/// Notes mention how answers ended only if at least this share of the answers is affected.
inline constexpr double kWorthSaying = 0.1;

/// How an arm's answers ended.
struct AnswerState {
  std::int64_t answers = 0;    ///< of all repeats
  std::int64_t failed = 0;     ///< have an error instead of an answer
  std::int64_t hit_limit = 0;  ///< the answer or most of its fields hit the limit
  std::int64_t unparsed = 0;   ///< no object could be parsed
  std::int64_t empty = 0;
  /// Failed, unparsed or empty. If an answer has its own end (json and value form), also those that
  /// hit the limit.
  std::int64_t broken = 0;
  double tokens = 0;   ///< number of text tokens, mean over answers
  double thought = 0;  ///< number of ids of thought, mean over answers
  /// how many references `rouge` largely ignores, in words, if their share is at least
  /// kWorthSaying; otherwise empty (outside_rouge of task_metrics.hpp)
  std::string outside_rouge;

  /// Whether most answers are broken, so that neither speed nor scores are meaningful.
  bool mostly_broken() const { return 2 * broken > answers; }
};

/// `scores`: of the same answers.
AnswerState state_of(const RunFigures& run, const ScoreTable& scores);

}  // namespace pardec
