#include "src/findings/answer_state.hpp"

#include <cmath>
#include <vector>

#include "src/scoring/task_metrics.hpp"

namespace pardec {

namespace {

/// Whether the answer's stream, or most of its fields, hit the limit.
bool hit_limit(const AnswerFigures& answer) {
  return answer.fields == 0 ? answer.at_limit : 2 * answer.fields_at_limit > answer.fields;
}

}  // namespace

AnswerState state_of(const RunFigures& run, const ScoreTable& scores) {
  std::vector<bool> unparsed(run.answers.size());
  for (const ScoreFigure& row : scores.column("parsed").rows)
    if (row.value == 0) unparsed[static_cast<size_t>(row.answer)] = true;
  AnswerState state;
  for (size_t a = 0; a < run.answers.size(); ++a) {
    const AnswerFigures& answer = run.answers[a];
    ++state.answers;
    if (answer.failed) {
      ++state.failed;
      ++state.broken;
      continue;
    }
    const bool limited = hit_limit(answer);
    state.thought += static_cast<double>(answer.thought);
    state.hit_limit += limited;
    state.unparsed += unparsed[a];
    state.empty += answer.empty;
    state.broken += unparsed[a] || answer.empty || (limited && run.summary.run.form != "free");
  }
  state.tokens = state.answers > state.failed
                     ? static_cast<double>(run.summary.totals.text) /
                           static_cast<double>(state.answers - state.failed)
                     : std::nan("");
  if (state.answers > state.failed)
    state.thought /= static_cast<double>(state.answers - state.failed);
  state.outside_rouge = outside_rouge(scores, kWorthSaying);
  return state;
}

}  // namespace pardec
