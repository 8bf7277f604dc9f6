#pragma once
#include <string>
#include <string_view>

#include "src/serve/http.hpp"
#include "src/tasks/session.hpp"

/// The paths /tokenize, /detokenize and /tokenizer_info, in vLLM's forms. REQUIRES of all
/// functions: the session has a tokenizer.
namespace pardec::serve {

/// Replies to a body {prompt or messages, add_special_tokens, add_generation_prompt,
/// return_token_strs} with {count, max_model_len, tokens, token_strs}. `token_strs` is null unless
/// return_token_strs is true. ApiError 400: the body has another form, or the chat template refuses
/// the messages.
HttpReply tokenize(std::string_view body, const Session& session);
/// Replies to a body {tokens} with {prompt}: the text of these token ids, including special tokens.
/// Ids that are not in the vocabulary are left out. ApiError 400: the body has another form.
HttpReply detokenize(std::string_view body, const Session& session);
/// Replies with {eos_token, eos_token_ids, vocab_size, model_max_length, chat_template}.
HttpReply tokenizer_info(const Session& session);

}  // namespace pardec::serve
