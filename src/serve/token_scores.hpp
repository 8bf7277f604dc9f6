#pragma once
#include <utility>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/support/json.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec::serve {

/// A token of a text, and the natural logarithm of its probability.
struct TokenScore {
  Token token = 0;
  double logprob = 0;
  int rank = 1;  ///< 1 + number of ids that are more probable at this place
  /// (id, logprob) of the most probable ids at this place, the most probable first
  std::vector<std::pair<Token, double>> top = {};
};

/// Scores the tokens ids[first], ids[first + 1], ... of a text in one causal forward pass. The
/// result has their scores in this order. The probability of a token is conditional on all tokens
/// before it in `ids`, at temperature 1. `top`: number of ids in TokenScore::top. Errors: see
/// Sequence::forward and Sequence::later. REQUIRES: 1 <= first <= ids.size().
Task<std::vector<TokenScore>> score_tokens(Engine& engine, Tokens ids, int first, int top);

/// The scores as `logprobs` of a text completion: {tokens, token_logprobs, top_logprobs,
/// text_offset}, four lists with an element for each token. An element of top_logprobs is an object
/// that maps the texts of the most probable ids, and of the token itself, to log-probabilities. An
/// element of text_offset is the number of code points before the token. `echoed`: the prompt if
/// the reply repeats the prompt, otherwise empty. If `echoed` is not empty, the lists begin with
/// the prompt's first token, and `scores` with the prompt's second token. The first token has no
/// score, so its elements in token_logprobs and top_logprobs are null.
OrderedJson completion_logprobs(const Tokens& echoed, const std::vector<TokenScore>& scores,
                                const Tokenizer& tokenizer);
/// The scores of a prompt as `prompt_logprobs`, in vLLM's form: a list with an element for each
/// token of the prompt. The first element is null. Each other element is an object that maps the
/// token's id, and the most probable ids at the token's place, to {logprob, rank, decoded_token}.
/// `scores`: the scores of all tokens of the prompt except the first token.
OrderedJson prompt_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);
/// The scores as `logprobs` of a chat completion: {content: [{token, logprob, bytes,
/// top_logprobs}]}. The list `content` has an element for each score.
OrderedJson chat_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);

}  // namespace pardec::serve
