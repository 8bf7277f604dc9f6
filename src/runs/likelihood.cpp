#include "src/runs/likelihood.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "src/engine/engine.hpp"
#include "src/engine/log_probability.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Number of rows whose logits are in memory at once.
constexpr int kRows = 64;

}  // namespace

AnswerLikelihood::AnswerLikelihood(Checkpoint& checkpoint, const std::string& chat_template,
                                   std::string hash)
    : checkpoint_(checkpoint),
      chat_(choose_chat_template(chat_template, checkpoint.folder)),
      hash_(std::move(hash)) {}

std::vector<ScoreRow> AnswerLikelihood::operator()(const ScoredExample& example) {
  std::vector<ScoreRow> rows;
  if (!example.text.empty()) return rows;
  const Tokenizer& tokenizer = *checkpoint_.tokenizer;
  std::vector<ChatMessage> conversation;
  for (const ScoredField& field : example.fields) {
    if (field.question.empty()) break;
    conversation.push_back({"user", field.question});
    const Tokens prompt =
        tokenizer.encode_piece(chat_.render(conversation, true), true, !chat_.has_special_tokens());
    const Tokens answer = tokenizer.encode_piece(field.answer, false);
    conversation.push_back({"assistant", field.answer});
    const std::int64_t ids = std::ssize(prompt) + std::ssize(answer);
    if (answer.empty() || ids > checkpoint_.model.config().positions()) continue;
    const double sum = log_likelihood(prompt, answer);
    ScoreRow& row = rows.emplace_back();
    row.metric = "likelihood";
    row.field = field.name;
    row.value = sum / static_cast<double>(answer.size());
    row.details = {{"log_likelihood", sum}, {"tokens", answer.size()}, {"network", hash_}};
  }
  return rows;
}

double AnswerLikelihood::log_likelihood(const Tokens& prompt, const Tokens& answer) {
  Tokens ids = prompt;
  // no logits are needed after the last token
  ids.insert(ids.end(), answer.begin(), answer.end() - 1);
  std::vector<RowLabel> labels;
  for (int i = 0; i < std::ssize(ids); ++i) labels.push_back(text_label(i));
  const Segments causal;
  KvCache cache(checkpoint_.model);
  HiddenRows hidden;
  const std::vector<SequenceStep> step{{.cache = &cache,
                                        .segments = &causal,
                                        .tokens = ids,
                                        .labels = labels,
                                        .outputs = {},
                                        .hidden = &hidden}};
  checkpoint_.model.forward(step);
  double sum = 0;
  // the row from which the answer's first token is predicted
  const int first = static_cast<int>(prompt.size()) - 1;
  for (int done = 0; done < std::ssize(answer); done += kRows) {
    std::vector<OutputRequest> outputs;
    for (int i = done; i < std::min<std::ptrdiff_t>(done + kRows, std::ssize(answer)); ++i)
      outputs.push_back({.index = first + i, .logits = true});
    const std::vector<FurtherRows> further{{hidden, outputs}};
    const auto rows = checkpoint_.model.further(further);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!rows[0][i].finite())
        throw ModelError(checkpoint_.folder.string(), "its logits are not finite numbers");
      sum += log_probabilities(rows[0][i],
                               std::span(answer).subspan(static_cast<size_t>(done) + i, 1))[0];
    }
  }
  return sum;
}

}  // namespace pardec
