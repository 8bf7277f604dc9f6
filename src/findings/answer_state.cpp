#include "src/findings/answer_state.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "decoders/decoder.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Whether the answer came to its limit: its stream did, or most of its fields.
bool hit_limit(const GenerationRow& row) {
  const auto at_limit = [](const std::string& stop) {
    return stop == name(Stop::limit) || stop == name(Stop::context);
  };
  const auto fields = std::count_if(row.fields.begin(), row.fields.end(),
                                    [&](const FieldAnswer& field) { return at_limit(field.stop); });
  return row.fields.empty() ? at_limit(row.stop) : 2 * fields > std::ssize(row.fields);
}

}  // namespace

AnswerState state_of(const RunSummary& run, const std::vector<StoredGeneration>& generations) {
  AnswerState state;
  for (const auto& generation : generations) {
    const GenerationRow& row = generation.row;
    ++state.answers;
    const auto is_unparsed = [](const ScoreRow& score) {
      return score.metric == "parsed" && score.value == 0;
    };
    const bool unparsed = std::any_of(row.scores.begin(), row.scores.end(), is_unparsed);
    const bool empty = strip(row.text).empty(), limited = hit_limit(row);
    if (row.error) {
      ++state.failed;
      ++state.broken;
      continue;
    }
    state.hit_limit += limited;
    state.unparsed += unparsed;
    state.empty += empty;
    state.broken += unparsed || empty || (limited && run.run.form != "free");
  }
  state.tokens = state.answers > state.failed
                     ? static_cast<double>(run.totals.text_tokens) /
                           static_cast<double>(state.answers - state.failed)
                     : std::nan("");
  return state;
}

}  // namespace pardec
