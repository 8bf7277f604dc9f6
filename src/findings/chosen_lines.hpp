#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Tokens of an answer that were chosen one after the other: the whole answer or one field.
struct ChosenLine {
  std::string field;  ///< empty: the whole answer
  Tokens tokens;
  /// The forward pass of the job, counted from 1, that chose each token; empty: not known.
  std::vector<std::int64_t> passes;
  /// Guesses that the network rejected, each with the pass that verified it. Only known from a
  /// trace.
  std::vector<std::pair<std::int64_t, Token>> rejected = {};
};

/// The lines of one answer. `answers`: the run that contains it. `trace`: of its job; may be null.
/// Without a trace, the passes are known if the job's histogram shows that each line chose one
/// token per pass, with all lines starting in the first pass or one line after the other.
std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace);

/// The tokenizer that a run used; none: it no longer exists, or it has changed since.
std::optional<Tokenizer> tokenizer_of(const ModelRow& model);

}  // namespace pardec
