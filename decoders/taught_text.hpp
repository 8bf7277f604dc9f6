#pragma once
#include <optional>
#include <string>
#include <vector>

#include "decoders/apar/tree.hpp"
#include "src/model/files/config.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// The id that ends open answers, if the network has one.
inline std::optional<Token> end_of_answer(const ModelConfig& config) {
  return config.eos.empty() ? std::nullopt : std::optional(config.eos.front());
}

/// A turn of a conversation that is learned from: what is fed before the answer, and the answer.
struct TaughtTurn {
  Tokens given;      ///< in the first turn the whole prompt, else all that stands between answers
  std::string text;  ///< of the answer
  Tokens answer;     ///< its ids, the end of sequence last where it is not cut
};

/// The turns of an open prompt or a conversation, as decoding asks them.
struct TaughtText {
  std::vector<TaughtTurn> turns;  ///< up to the first without an answer
  bool cut = false;               ///< its end lies beyond the context length
};
/// Cut where it has more than `context_length` ids: in the middle of an answer, or before a turn
/// whose prompt goes beyond it. The last answer of an unfinished example has no end of sequence.
/// ConfigError: the network has none.
TaughtText taught_text(const TrainingExample& example, const Tokenizer& tokenizer,
                       std::optional<Token> eos, int context_length);

/// Plainly causal rows of turns [0, end): every answer token is a target, no other is.
TrainingSample causal_turns(const TaughtText& text, size_t end);

/// An answer as APAR's threads would write it (paper, section 3.1), by the rules of its data: an
/// ordered list of at least three points `number. root: detail`, each detail a thread, the last one
/// up to an empty line; else at least three paragraphs of which all but the first sentence is a
/// thread. None: it has no such structure, or holds what is never cut up (code, formulas, markup,
/// links, CJK).
std::optional<ParagraphTree> paragraph_tree(const std::string& text, const Tokenizer& tokenizer);

/// Whether APAR's data has the answer as an example of what is not cut up: code, markup, formulas,
/// sums of numbers. REQUIRES: it makes no tree.
bool teaches_no_fork(const std::string& text);

}  // namespace pardec
