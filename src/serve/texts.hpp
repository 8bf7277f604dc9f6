#pragma once
#include <string>
#include <string_view>

#include "src/serve/http.hpp"
#include "src/tasks/session.hpp"

/// /tokenize, /detokenize and /tokenizer_info, in vLLM's shapes.
namespace pardec::serve {

/// {prompt, add_special_tokens} or {messages, add_generation_prompt} -> {count, max_model_len,
/// tokens, token_strs}. ApiError 400.
HttpReply tokenize(std::string_view body, const Session& session);
/// {tokens} -> {prompt}. ApiError 400.
HttpReply detokenize(std::string_view body, const Session& session);
/// The special tokens that answers begin and end with, and the chat template.
HttpReply tokenizer_info(const Session& session);

}  // namespace pardec::serve
