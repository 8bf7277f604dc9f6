#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The tokens of a whole answer or of one field, in order, and the forward pass that chose each
/// token.
struct ChosenLine {
  std::string field;  ///< name of the field; empty: the whole answer
  Tokens tokens;      ///< ids
  /// For each token: the number of the job's forward pass that chose the token, counted from 1.
  /// Empty: not known.
  std::vector<std::int64_t> passes;
  /// Guesses that the network rejected: (pass that verified the guess, guess). Empty without a
  /// trace.
  std::vector<std::pair<std::int64_t, Token>> rejected = {};
};

/// The lines of one answer. If the answer was generated as one stream of its own, the result is one
/// line; otherwise, it is one line for each field with tokens. `answers`: all answers of the run.
/// `answer`: an element of `answers`. `trace`: the trace of the answer's job; null: there is no
/// trace.
///
/// Without a trace, the passes are inferred from the job's histogram of tokens per pass
/// (Counters::emitted). This is possible in two cases. In the first case, all lines began in the
/// first pass, and each pass chose one token for each unfinished line. In the second case, each
/// pass chose one token, and each line began after the previous line was complete. In all other
/// cases, the passes are not known. If the answer is only a part of the job's single stream (a
/// stack of examples), the passes are not known, even with a trace.
std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace);

/// Loads the tokenizer of a network that a run used. None: the tokenizer's file does not exist any
/// more, has changed since the run, or cannot be loaded.
std::optional<Tokenizer> tokenizer_of(const ModelRow& model);

}  // namespace pardec
