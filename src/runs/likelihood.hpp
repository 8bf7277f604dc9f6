#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// How likely a network finds what was answered to open questions, whoever wrote it and in whatever
/// order: its log-probability (natural) behind the question, token by token, plainly causal. A
/// quality of parallel text that needs no judge; but text that repeats itself is likely, too.
class AnswerLikelihood {
 public:
  /// `checkpoint` outlives it and has a tokenizer. `hash`: of its files, which names it in scores.
  AnswerLikelihood(Checkpoint& checkpoint, const std::string& chat_template, std::string hash);

  /// A row for each turn that was asked a question and has an answer: the mean over the ids of the
  /// answer's text, which the network's own tokenizer makes; its end is not counted. None where
  /// question and answer go beyond the network's positions, and for examples that have a text.
  std::vector<ScoreRow> operator()(const ScoredExample& example);

 private:
  double log_likelihood(const Tokens& prompt, const Tokens& answer);

  Checkpoint& checkpoint_;
  ChatTemplate chat_;
  std::string hash_;
};

}  // namespace pardec
