#pragma once
#include <optional>
#include <string>
#include <vector>

#include "decoders/apar/tree.hpp"
#include "src/model/files/config.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// The id that ends open answers; none: the network has no end of sequence.
inline std::optional<Token> end_of_answer(const ModelConfig& config) {
  return config.eos.empty() ? std::nullopt : std::optional(config.eos.front());
}

/// A turn of a conversation in training: the tokens before the answer, and the answer.
struct TaughtTurn {
  Tokens given;  ///< in the first turn the prompt, in later turns all tokens between two answers
  std::string text;  ///< text of the answer
  Tokens answer;     ///< its ids; the last is the end of sequence, unless the answer is cut
};

/// The turns of an open prompt or a conversation, with the same ids as in decoding.
struct TaughtText {
  std::vector<TaughtTurn> turns;  ///< up to the first turn without an answer
  bool cut = false;               ///< whether the text was cut at the context length
};
/// Tokenizes an example. A text with more than `context_length` ids is cut: within an answer, or
/// before a turn whose prompt would not fit. The last answer of an unfinished example has no end of
/// sequence. ConfigError: `eos` is none.
TaughtText taught_text(const TrainingExample& example, const Tokenizer& tokenizer,
                       std::optional<Token> eos, int context_length);

/// The causal training sequence of turns [0, end). The targets are the tokens of the answers.
TrainingSample causal_turns(const TaughtText& text, size_t end);

/// Splits an answer into threads by the rules of APAR's data (paper, section 3.1). It must be an
/// ordered list of at least three points `NUMBER. ROOT: DETAIL`, or have at least three paragraphs.
/// In a list, each detail is a thread, and the last one ends at an empty line. In paragraphs,
/// everything after the first sentence is a thread. None: the answer has neither structure, or
/// contains text that is never split (code, formulas, markup, links, CJK).
std::optional<ParagraphTree> paragraph_tree(const std::string& text, const Tokenizer& tokenizer);

/// Whether APAR's data would use the answer as an example without forks, because it contains code,
/// markup, formulas or sums of numbers. REQUIRES: paragraph_tree gives none.
bool teaches_no_fork(const std::string& text);

}  // namespace pardec
