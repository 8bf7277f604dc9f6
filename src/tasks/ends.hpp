#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"

/// The tokens at which answers end.
namespace pardec {

/// The ends of sequence that a checkpoint's files name, and at which no answer ends, a line each
/// with the flag that adds it: the tokenizer's eos_token, those of config.json where
/// generation_config.json says otherwise, and the token that the checkpoint's own chat template
/// writes after each answer. Answers end at those of `config` and at the `given` ones. `tokenizer`,
/// `chat`: null, there is none. Never fails: what is wrong with a file is said where it is needed.
std::vector<std::string> end_notes(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given = {});

/// The ids of --eos: each an id, or the text of a token. ConfigError.
std::vector<Token> given_ends(const std::vector<std::string>& texts, const ModelConfig& config,
                              const Tokenizer* tokenizer);

}  // namespace pardec
