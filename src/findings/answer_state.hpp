#pragma once
#include <cstdint>
#include <string>

#include "src/scoring/score_table.hpp"

namespace pardec {

/// Notes about how answers ended are shown only if at least this share of the answers is affected.
inline constexpr double kWorthSaying = 0.1;

/// How the answers of an arm on a dataset ended: counts of answers, and mean lengths.
struct AnswerState {
  std::int64_t answers = 0;  ///< number of answers, over all repeats
  /// Number of answers that ended with an error. `hit_limit`, `unparsed` and `empty` do not include
  /// these answers.
  std::int64_t failed = 0;
  /// Number of answers that were cut at a limit (AnswerFigures). An answer with fields counts if
  /// more than half of its fields were cut.
  std::int64_t hit_limit = 0;
  std::int64_t unparsed = 0;  ///< number of answers that could not be parsed (score `parsed`)
  std::int64_t empty = 0;     ///< number of answers that contain only white space
  /// Number of unusable answers: failed, unparsed or empty. Answers that were cut at a limit are
  /// included, except answers to open prompts (form free), which are usable without their end.
  std::int64_t broken = 0;
  /// mean number of text tokens per answer that did not fail; NaN: all answers failed
  double tokens = 0;
  /// mean number of thinking tokens per answer that did not fail; 0: all answers failed
  double thought = 0;
  /// A text about the answers whose references `rouge` largely ignores (outside_rouge in
  /// task_metrics.hpp). Empty: the share of such answers is below kWorthSaying.
  std::string outside_rouge;

  /// Whether most answers are broken, so that neither speed nor scores are meaningful.
  bool mostly_broken() const { return 2 * broken > answers; }
};

/// Summarises the answers of a run. REQUIRES: `scores` are the scores of the same run.
AnswerState state_of(const RunFigures& run, const ScoreTable& scores);

}  // namespace pardec
