#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// The tokens of a whole answer or of one field, in order, and the forward passes that chose them.
struct ChosenLine {
  std::string field;  ///< name of the field; empty: the whole answer
  Tokens tokens;
  /// For each token: the number of the job's forward pass that chose the token, counted from 1.
  /// Empty: not known.
  std::vector<std::int64_t> passes;
  /// Guesses that the network rejected: (pass that verified the guess, guess). Empty without a
  /// trace.
  std::vector<std::pair<std::int64_t, Token>> rejected = {};
};

/// The lines of one answer: one line for a whole answer, or one line for each field with tokens.
/// `answers`: the answers of the run. `trace`: the trace of the answer's job, or null. Without a
/// trace, the passes are inferred from the job's histogram of tokens per pass (Counters::emitted).
/// It determines them in two cases. Either all lines began in the first pass, and each pass chose
/// one token for each unfinished line. Or each pass chose one token, and the lines followed one
/// another. If the answer is only a part of the job's single stream (a stack of examples), the
/// passes are not known, even with a trace.
std::vector<ChosenLine> chosen_lines(const RunAnswers& answers, const Answered& answer,
                                     const Trace* trace);

/// Loads the tokenizer of a network that a run used. None: its file does not exist any more, has
/// changed since the run, or cannot be loaded.
std::optional<Tokenizer> tokenizer_of(const ModelRow& model);

}  // namespace pardec
