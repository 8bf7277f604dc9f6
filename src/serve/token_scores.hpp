#pragma once
#include <utility>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/support/json.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec::serve {

/// A token of a text with the natural logarithm of its probability.
struct TokenScore {
  Token token = 0;
  double logprob = 0;
  int rank = 1;                                    ///< of the token among all ids at this place
  std::vector<std::pair<Token, double>> top = {};  ///< the likeliest ids at this place, best first
};

/// The scores of a text's tokens from index `first` on, each given all tokens before it, causally,
/// before any warping: one forward pass over the text. `top`: the number of likeliest
/// ids in each score. REQUIRES: 1 <= first <= ids.size().
Task<std::vector<TokenScore>> score_tokens(Engine& engine, Tokens ids, int first, int top);

/// The scores as `logprobs` of a text completion: {tokens, token_logprobs, top_logprobs,
/// text_offset}. `echoed`: the first of the text's tokens, which has no score; empty: the scores
/// begin after the prompt. The id itself stands in `top_logprobs`, too.
OrderedJson completion_logprobs(const Tokens& echoed, const std::vector<TokenScore>& scores,
                                const Tokenizer& tokenizer);
/// The scores of a prompt's tokens as `prompt_logprobs` in vLLM's shape: a list with null for the
/// first token, and for each other one an object id: {logprob, rank, decoded_token}.
OrderedJson prompt_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);
/// The scores as `logprobs` of a chat completion: {content: [{token, logprob, bytes,
/// top_logprobs}]}.
OrderedJson chat_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);

}  // namespace pardec::serve
