#pragma once
#include <string>
#include <string_view>

#include "src/serve/http.hpp"
#include "src/tasks/session.hpp"

/// The paths /tokenize, /detokenize and /tokenizer_info, in vLLM's forms.
namespace pardec::serve {

/// {prompt, add_special_tokens} or {messages, add_generation_prompt} -> {count, max_model_len,
/// tokens, token_strs}. ApiError 400: the body has another form.
HttpReply tokenize(std::string_view body, const Session& session);
/// {tokens} -> {prompt}. ApiError 400: the body has another form.
HttpReply detokenize(std::string_view body, const Session& session);
/// The beginning- and end-of-sequence tokens, and the chat template.
HttpReply tokenizer_info(const Session& session);

}  // namespace pardec::serve
