#pragma once
#include <string>
#include <string_view>

#include "src/serve/http.hpp"
#include "src/tasks/session.hpp"

/// The paths /tokenize, /detokenize and /tokenizer_info, in vLLM's forms. REQUIRES of all
/// functions: the session has a tokenizer.
namespace pardec::serve {

/// The reply of /tokenize, {count, max_model_len, tokens, token_strs}. `body`: {prompt or messages,
/// add_special_tokens, add_generation_prompt, return_token_strs} as JSON; if there is a prompt, the
/// messages are not used. `tokens` are the token ids, and `count` is their number. `token_strs` has
/// the vocabulary's text of each id if return_token_strs is true, and otherwise is null. ApiError
/// 400: the body has another form, or the chat template refuses the messages.
HttpReply tokenize(std::string_view body, const Session& session);
/// The reply of /detokenize, {prompt}: the text of the token ids in the body, including special
/// tokens. `body`: {tokens} as JSON. Ids that are not in the vocabulary are left out. ApiError 400:
/// the body has another form.
HttpReply detokenize(std::string_view body, const Session& session);
/// The reply of /tokenizer_info: {eos_token, eos_token_ids, vocab_size, model_max_length,
/// chat_template}.
HttpReply tokenizer_info(const Session& session);

}  // namespace pardec::serve
