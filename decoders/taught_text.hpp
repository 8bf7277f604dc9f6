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

/// A turn of a training conversation: the tokens before the answer, and the answer.
struct TaughtTurn {
  Tokens given;  ///< in the first turn the whole prompt, otherwise all tokens between two answers
  std::string text;  ///< text of the answer
  Tokens answer;     ///< its ids; the end of sequence is the last one unless it is cut
};

/// The turns of an open prompt or a conversation, laid out as in decoding.
struct TaughtText {
  std::vector<TaughtTurn> turns;  ///< up to the first turn without an answer
  bool cut = false;               ///< its end is beyond the context length
};
/// Cuts a text with more than `context_length` ids: inside an answer, or before a turn whose prompt
/// would exceed it. The last answer of an unfinished example has no end of sequence. ConfigError:
/// the network has no end of sequence.
TaughtText taught_text(const TrainingExample& example, const Tokenizer& tokenizer,
                       std::optional<Token> eos, int context_length);

/// Causal rows of turns [0, end). Every answer token is a target; no other token is.
TrainingSample causal_turns(const TaughtText& text, size_t end);

/// An answer as APAR's threads would write it (paper, section 3.1), by the rules of its data.
/// Either an ordered list of at least three points `number. root: detail`, where each detail is a
/// thread and the last one extends to an empty line; or at least three paragraphs, where everything
/// after the first sentence is a thread. None: it has no such structure, or contains text that is
/// never split (code, formulas, markup, links, CJK).
std::optional<ParagraphTree> paragraph_tree(const std::string& text, const Tokenizer& tokenizer);

/// Whether APAR's data would use the answer as an example without forks: code, markup, formulas,
/// sums of numbers. REQUIRES: it has no tree.
bool teaches_no_fork(const std::string& text);

}  // namespace pardec
