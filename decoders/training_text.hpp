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

/// A turn of a conversation that a network is trained on: the tokens before the answer, and the
/// answer.
struct TrainingTurn {
  Tokens given;  ///< in the first turn the prompt, in later turns all tokens since the last answer
  std::string text;  ///< text of the answer
  /// the answer's ids; the last is the end of sequence, unless the answer is cut or unfinished
  Tokens answer;
};

/// The turns of an open prompt or a conversation that a network is trained on, with the same ids as
/// in decoding.
struct TrainingText {
  std::vector<TrainingTurn> turns;  ///< up to the first turn without an answer
  bool cut = false;                 ///< whether the text was cut at the context length
};
/// Tokenizes an open prompt or a conversation with its reference answers. A text with more than
/// `context_length` inputs (the last id of an answer is only a target) is cut: within an answer, or
/// before a turn whose prompt would not fit. The last answer of an unfinished example
/// (TrainingExample::unfinished) has no end of sequence. `eos`: the id at the end of each answer.
/// REQUIRES: the example has form `free`. ConfigError: `eos` is none.
TrainingText training_text(const TrainingExample& example, const Tokenizer& tokenizer,
                           std::optional<Token> eos, int context_length);

/// The causal training sequence of the turns 0 to `end` - 1. The targets are the tokens of the
/// answers. REQUIRES: there are at least `end` turns.
TrainingSample causal_turns(const TrainingText& text, size_t end);

/// Splits an answer into threads by the rules of APAR's data (arXiv:2401.06761, section 3.1). The
/// answer must be an ordered list of at least three points `NUMBER. ROOT: DETAIL`, or have at least
/// three paragraphs of several sentences. In a list, each detail is a thread, and the last detail
/// ends at an empty line. In paragraphs, everything after the first sentence of a paragraph is a
/// thread.
///
/// A list in which a detail has fewer than 10 bytes or contains a numbered line, or in which no
/// empty line follows the last detail, is treated as paragraphs. None: the answer has neither
/// structure; a first sentence has fewer than 9 bytes (20, if it is the whole paragraph); or the
/// answer contains text that is never split (code, formulas, markup, links, CJK, and in paragraphs
/// titles such as "Mr.").
std::optional<ParagraphTree> paragraph_tree(const std::string& text, const Tokenizer& tokenizer);

/// Whether APAR's data would use the answer as an example without forks, because it contains code,
/// markup, formulas or arithmetic (12 + 34). REQUIRES: paragraph_tree returns none for the answer.
bool teaches_no_fork(const std::string& text);

}  // namespace pardec
