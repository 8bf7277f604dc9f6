#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"

/// The tokens that end answers.
namespace pardec {

/// Answers end at the tokens in config.eos and `given`. This function finds other end-of-sequence
/// tokens in the checkpoint's files, and returns a line for each of them. The line has the flag
/// that makes the token an end too, or says that the token is not in the network's vocabulary. The
/// function looks at the tokenizer's eos_token, at config.json if generation_config.json differs,
/// and at the token that the checkpoint's own chat template writes after each answer. `tokenizer`
/// and `chat` may be null. Does not throw: invalid files are reported where they are needed.
std::vector<std::string> end_notes(const ModelOptions& options, const ModelConfig& config,
                                   const Tokenizer* tokenizer, const ChatTemplate* chat,
                                   const std::vector<Token>& given = {});

/// The ids given with --eos. Each text is an id, or the text of a token. `tokenizer`: null if none
/// is loaded; then only ids are allowed. ConfigError: a text is neither an id nor a token, or the
/// id is not in the vocabulary.
std::vector<Token> given_ends(const std::vector<std::string>& texts, const ModelConfig& config,
                              const Tokenizer* tokenizer);

}  // namespace pardec
