#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"

/// The tokens that end answers.
namespace pardec {

/// Answers end at the tokens of `config`, and at the `given` ones. Returns a line for each further
/// end of sequence in the checkpoint's files, with the flag that adds it. These are the tokenizer's
/// eos_token, those of config.json if generation_config.json differs, and the token that the
/// checkpoint's own chat template writes after each answer. `tokenizer` and `chat` may be null.
/// Does not throw: errors in files are reported where the files are needed.
std::vector<std::string> end_notes(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given = {});

/// The ids of --eos. Each text is an id or the text of a token. ConfigError.
std::vector<Token> given_ends(const std::vector<std::string>& texts, const ModelConfig& config,
                              const Tokenizer* tokenizer);

}  // namespace pardec
