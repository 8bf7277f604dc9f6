#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// Computes the log-probability of answers to open questions under a network. The conversation is
/// rendered with a chat template and computed as plain causal text. The answers may come from
/// another network and from any decoder. Thus the quality of text that was decoded in parallel can
/// be measured without a judge. A caveat: repetitive text has a high probability too.
class AnswerLikelihood {
 public:
  /// `chat_template`: a name as for --chat-template (choose_chat_template). `hash`: the hash of the
  /// checkpoint's files, which identifies the network in scores. Errors: see choose_chat_template.
  /// REQUIRES: `checkpoint` has a tokenizer, and outlives this object.
  AnswerLikelihood(Checkpoint& checkpoint, const std::string& chat_template, std::string hash);

  /// Returns one row of the metric `likelihood` for each turn with a question and an answer. The
  /// value is the mean natural log-probability of the tokens of the answer's text: the mean of log
  /// p(token | prompt, earlier tokens of the answer). An end token is not included. There is no row
  /// for a turn whose answer has no tokens. There is no row either for a turn that, together with
  /// the turns before it, has more tokens than the network has positions. If a turn has no
  /// question, neither this turn nor any later turn has a row. There are no rows at all if the
  /// example's questions are about a text. ConfigError: see ChatTemplate::render. RunError: see
  /// Tokenizer. ModelError: the network's logits are not finite. Other errors: see Model::forward
  /// and Model::further.
  std::vector<ScoreRow> operator()(const ScoredExample& example);

 private:
  /// The sum of the natural log-probabilities of the answer's tokens after the prompt.
  double log_likelihood(const Tokens& prompt, const Tokens& answer);

  Checkpoint& checkpoint_;
  ChatTemplate chat_;
  std::string hash_;
};

}  // namespace pardec
