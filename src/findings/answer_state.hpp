#pragma once
#include <cstdint>
#include <string>

#include "src/scoring/score_table.hpp"

namespace pardec {

/// Notes about how answers ended are shown only if at least this share of the answers is affected.
inline constexpr double kWorthSaying = 0.1;

/// How an arm's answers ended: numbers of answers, and mean lengths.
struct AnswerState {
  std::int64_t answers = 0;    ///< number of answers, over all repeats
  std::int64_t failed = 0;     ///< ended with an error; in no other count except `broken`
  std::int64_t hit_limit = 0;  ///< as a whole or in most of their fields ended at a token limit
  std::int64_t unparsed = 0;   ///< contain no JSON object that could be parsed
  std::int64_t empty = 0;      ///< contain only white space
  /// Number of answers that are failed, unparsed or empty. In the forms json and value, in which an
  /// answer has an end of its own, answers that hit the limit are included.
  std::int64_t broken = 0;
  /// mean number of text tokens per answer that did not fail; NaN: all answers failed
  double tokens = 0;
  double thought = 0;  ///< mean number of thinking tokens per answer that did not fail
  /// A text about the references that `rouge` largely ignores (outside_rouge in task_metrics.hpp).
  /// Empty: the share of such references is below kWorthSaying.
  std::string outside_rouge;

  /// Whether most answers are broken, so that neither speed nor scores are meaningful.
  bool mostly_broken() const { return 2 * broken > answers; }
};

/// REQUIRES: `scores` are the scores of the same run.
AnswerState state_of(const RunFigures& run, const ScoreTable& scores);

}  // namespace pardec
