#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Tokens of an answer that were chosen one after another: the whole of it, or one field.
struct ChosenLine {
  std::string field;  ///< empty: the whole answer
  Tokens tokens;
  /// The forward pass of the job, from 1, that chose each token; empty: not known.
  std::vector<std::int64_t> passes;
  /// Guesses that the network did not choose, and the pass that checked each; a trace tells them.
  std::vector<std::pair<std::int64_t, Token>> rejected = {};
};

/// The lines of one answer. `answers` is the run that holds it. `trace` (may be null) is of its
/// job; without one, passes are known where the job's histogram says that its lines chose a token a
/// pass each, all from the first pass on or one after the other.
std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace);

/// The tokenizer that the network of a run was read with; none where it is not there any more, or
/// is another one now.
std::optional<Tokenizer> tokenizer_of(const ModelRow& model);

}  // namespace pardec
