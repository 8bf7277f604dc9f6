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
/// probability of a token is conditional on all tokens before it, at temperature 1. `top`: number
/// of most probable ids in each score. Errors: see Sequence::forward and Sequence::later. REQUIRES:
/// 1 <= first <= ids.size().
Task<std::vector<TokenScore>> score_tokens(Engine& engine, Tokens ids, int first, int top);

/// The scores as `logprobs` of a text completion: {tokens, token_logprobs, top_logprobs,
/// text_offset}, four lists with an element for each token. `echoed`: empty if the reply does not
/// repeat the prompt; otherwise the prompt, of which only the first token is read. This token has
/// no score, so its elements in token_logprobs and top_logprobs are null; `scores` then begins with
/// the prompt's second token. An element of top_logprobs, {text: logprob}, has the most probable
/// ids and the token itself. An offset is the number of code points before the token.
OrderedJson completion_logprobs(const Tokens& echoed, const std::vector<TokenScore>& scores,
                                const Tokenizer& tokenizer);
/// The scores of a prompt as `prompt_logprobs`, in vLLM's form: a list with null for the prompt's
/// first token, and for each other token an object {ID: {logprob, rank, decoded_token}} with the
/// token and the most probable ids. `scores`: the scores of all tokens of the prompt except the
/// first.
OrderedJson prompt_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);
/// The scores as `logprobs` of a chat completion: {content: [{token, logprob, bytes,
/// top_logprobs}]}, with an element for each score.
OrderedJson chat_logprobs(const std::vector<TokenScore>& scores, const Tokenizer& tokenizer);

}  // namespace pardec::serve
