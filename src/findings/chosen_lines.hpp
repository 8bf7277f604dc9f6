#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Tokens that were chosen one after another: those of a whole answer, or of one field.
struct ChosenLine {
  std::string field;  ///< empty: the whole answer
  Tokens tokens;
  /// Per token: the number of the job's forward pass that chose it, counted from 1. Empty: not
  /// known.
  std::vector<std::int64_t> passes;
  /// Guesses that the network rejected: (pass that verified the guess, guess). Empty without a
  /// trace.
  std::vector<std::pair<std::int64_t, Token>> rejected = {};
};

/// The lines of one answer. A field without tokens has no line. `answers`: the answers of the run.
/// `trace`: the trace of the answer's job, or null. Without a trace, the passes are known only if
/// the job's histogram of tokens per pass shows that each line chose one token per pass, and that
/// the lines either all began in the first pass or followed one another. If the answer is only a
/// part of the job's single stream (a stack of examples), the passes are not known, even with a
/// trace.
std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace);

/// The tokenizer that a run used. None: the tokenizer's file does not exist any more, has changed
/// since the run, or cannot be loaded.
std::optional<Tokenizer> tokenizer_of(const ModelRow& model);

}  // namespace pardec
