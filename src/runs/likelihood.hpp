#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// Computes the log-probability of answers to open questions under a network. The network reads the
/// conversation in its chat template, from left to right. The answers may come from another network
/// and from any decoder. Thus the quality of text that was decoded in parallel can be measured
/// without a judge. A caveat: repetitive text has a high probability too.
class AnswerLikelihood {
 public:
  /// `hash`: the hash of the checkpoint's files, which identifies the network in scores. REQUIRES:
  /// `checkpoint` has a tokenizer, and outlives this object.
  AnswerLikelihood(Checkpoint& checkpoint, const std::string& chat_template, std::string hash);

  /// One row for each turn with a question and an answer. The value is the mean natural
  /// log-probability per token of the answer's text, without an end token. There is no row if
  /// question and answer exceed the network's positions, or if the example's questions are about a
  /// text.
  std::vector<ScoreRow> operator()(const ScoredExample& example);

 private:
  double log_likelihood(const Tokens& prompt, const Tokens& answer);

  Checkpoint& checkpoint_;
  ChatTemplate chat_;
  std::string hash_;
};

}  // namespace pardec
