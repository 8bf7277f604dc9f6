#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// The natural log-probability of answers to open questions under a network. The network reads the
/// conversation, in its chat template, from left to right like any prompt, whatever decoder wrote
/// the answer. The answers may come from another network or decoder. This measures the quality of
/// parallel text without a judge; but repetitive text also has a high probability.
class AnswerLikelihood {
 public:
  /// `checkpoint` must have a tokenizer and outlive this object. `hash`: of its files; identifies
  /// the network in scores.
  AnswerLikelihood(Checkpoint& checkpoint, const std::string& chat_template, std::string hash);

  /// A row for each turn with a question and an answer: the mean log-probability per token of the
  /// answer's text under the network's own tokenizer, without an end token. No row if question and
  /// answer exceed the network's positions, or if the questions of the example are about a text.
  std::vector<ScoreRow> operator()(const ScoredExample& example);

 private:
  double log_likelihood(const Tokens& prompt, const Tokens& answer);

  Checkpoint& checkpoint_;
  ChatTemplate chat_;
  std::string hash_;
};

}  // namespace pardec
