#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"

/// The tokens at which answers end.
namespace pardec {

/// An end of sequence that a checkpoint's files name, and at which no answer ends.
struct UnusedEnd {
  std::string named_by;  ///< "the tokenizer's eos_token"
  Token id = 0;
  std::string text;  ///< of the token; may be empty
};

/// Those of the tokenizer's eos_token, of config.json where generation_config.json says otherwise,
/// and of the checkpoint's own chat template, which writes a token after each answer. Answers end
/// at those of `config` and at the `given` ones. `tokenizer`, `chat`: null, there is none. Never
/// fails: what is wrong with a file is said where it is needed.
std::vector<UnusedEnd> unused_ends(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given = {});
/// In a line: who names it, at what answers end, and the flag that adds it.
std::string describe(const UnusedEnd& end, const ModelConfig& config);

/// The ids of --eos: each an id, or the text of a token. ConfigError.
std::vector<Token> given_ends(const std::vector<std::string>& texts, const ModelConfig& config,
                              const Tokenizer* tokenizer);

}  // namespace pardec
