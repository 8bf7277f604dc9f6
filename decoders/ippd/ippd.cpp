// Intra-Prompt Parallel Decoding (IPPD).
//
// Idea: many questions share a context, and many contexts share an instruction; the answers do not
// depend on each other. So one prompt contains the instruction p, l contexts c_j and all their
// questions x_jk. Virtual positions are those that each token would have in a prompt (p, c_j,
// x_jk), and no question sees other questions or other contexts. One forward pass gives the first
// token of every answer. Each later pass processes the newest token of every unfinished answer,
// appended in the order of the questions. The answers equal those of independent decoding, and keys
// of p and c_j are read once for all of them.
//
//   p      c_1    x_11   x_12   c_2    x_21     step 1 (prefill)           ->  y_11 y_12 y_21
//   0 1    2 3    4      4 5    2      3        step 2: y at 5, 6 and 4    ->  ...
//
// Source: "Intra-Prompt Parallel Decoding for Common-Context Question Answering", sections 4.1 to
// 4.4. Letters are the paper's.
//
// Differences from the paper: batches of prompts are packed, so the pads of section 4.4 do not
// exist; answers are appended step by step, as in its text and figure 2 (its eq. 15, which stores
// each answer in one piece, is not used anywhere); the end of sequence is not processed; sampling
// is possible.
#include "decoders/ippd/ippd.hpp"

#include <algorithm>

#include "decoders/free_running.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

IppdLayout lay_out(const Pieces& pieces, const std::string& where) {
  IppdLayout layout;
  const auto add = [&](const Tokens& tokens, int position, int segment) {
    for (const Token token : tokens) {
      layout.tokens.push_back(token);
      layout.labels.push_back(
          {.position = position, .order = position, .segment = segment, .rank = 0});
      ++position;
    }
    return position;  // position of the next token
  };
  const auto add_segment = [&](std::vector<int> sees) {
    layout.sees.push_back(std::move(sees));
    return static_cast<int>(layout.sees.size());
  };
  const auto last_row = [&] { return static_cast<int>(layout.tokens.size()) - 1; };

  const int behind_p = add(pieces.prefix, 0, 0);
  layout.instruction_length = behind_p;
  for (size_t j = 0; j < pieces.contexts.size(); ++j) {
    const int context = add_segment({0});
    const int behind_c = add(pieces.contexts[j], behind_p, context);
    const int before = pieces.contexts[j].empty() ? behind_p - 1 : last_row();
    for (const Tokens& x : pieces.fields[j]) {
      const int question = add_segment({0, context});
      const int behind_x = add(x, behind_c, question);
      if (behind_x == 0)
        throw ConfigError(str(where, ": the prompt has no token, expected at least one"));
      layout.questions.push_back(
          {.end = x.empty() ? before : last_row(), .segment = question, .position = behind_x});
    }
  }
  return layout;
}

RowLabel IppdLayout::answer(int question, int t) const {
  const Question& x = questions[static_cast<size_t>(question)];
  const int position = x.position + t - 1;
  return {.position = position, .order = position, .segment = x.segment, .rank = 0};
}

namespace {

class Ippd final : public Decoder {
 public:
  explicit Ippd(const Options& options)
      : Decoder(options),
        options_{.contexts = options.whole("contexts"),
                 .prefix_cache = options.flag("prefix_cache")} {}

  Form form() const override { return Form::value; }
  int stack() const override { return options_.contexts; }
  Oracle reference_oracle(const Request& request,
                          const std::vector<std::vector<std::optional<std::string>>>& references,
                          const DecoderContext& context) const override {
    return {field_references(request, references, context), {}};
  }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

 private:
  IppdOptions options_;
};

/// ModelError: a triplet (p, c_j, x_jk) has more tokens than the network has positions. The stack
/// may be longer, because virtual positions count.
void check_context(const Request& request, const IppdLayout& layout, const ModelConfig& config) {
  for (const auto& x : layout.questions)
    if (x.position > config.positions())
      throw ModelError(
          request.job.id,
          str("context overflow: instruction, context and question have ", x.position, " tokens, ",
              config.positions_key(), " is ", config.positions(), "; use a shorter prompt"));
}

/// The header from `begin` on, with logits requested after every question.
Step prefill(const IppdLayout& layout, int begin, const Sampling& sampling) {
  Step step;
  for (auto i = static_cast<size_t>(begin); i < layout.tokens.size(); ++i)
    step.add(layout.tokens[i], layout.labels[i], Origin::prompt);
  for (const auto& x : layout.questions) step.want(x.end - begin, sampling);
  step.streams = static_cast<int>(layout.questions.size());
  return step;
}

/// Decodes y_1, y_2, .. of one question until its end.
Task<StreamWriter> decode_answer(Sequence& sequence, const IppdLayout& layout, int question,
                                 RowLogits logits, Chooser chooser, Sampling sampling,
                                 StreamWriter y) {
  int row = layout.questions[static_cast<size_t>(question)].end;
  for (int t = 1;; ++t) {
    const Choice choice = chooser.choose(logits);
    y.add({&choice, 1}, {&row, 1});
    if (y.ended()) co_return y;
    Step step;
    step.add(choice.token, layout.answer(question, t), Origin::chosen, chooser.forced() ? -1 : row);
    step.want(0, sampling);
    StepResult next = co_await sequence.forward(std::move(step));
    row = next.first_row;
    logits = std::move(next.outputs[0]);
  }
}

Task<Answers> Ippd::decode(const Request& request, const DecoderContext& context) const {
  // Stacked tokens, virtual positions, and each token's context and question (section 4.1).
  const IppdLayout layout = lay_out(request.pieces, request.job.id);
  check_context(request, layout, context.engine.model().config());

  // The instruction may be cached (4.4). An empty question needs the logits of the instruction's
  // last row.
  const bool cached =
      options_.prefix_cache &&
      std::all_of(layout.questions.begin(), layout.questions.end(),
                  [&](const auto& x) { return x.end >= layout.instruction_length; });
  const Tokens p = cached ? request.pieces.prefix : Tokens{};
  Prefixed prompt =
      co_await context.engine.prefixes().begin(p, request.job.id, std::string(name()));
  Sequence& sequence = prompt.sequence;
  for (const auto& sees : layout.sees) sequence.add_segment(sees);

  // Prefill: one choice after each question (4.2).
  StepResult first =
      co_await sequence.forward(prefill(layout, static_cast<int>(p.size()), request.job.sampling));

  // Decoding: answers continue independently; unfinished ones share each forward pass (4.2).
  const std::vector<StreamRequest> asked = field_requests(request);
  std::vector<std::unique_ptr<Chance>> chances;
  std::vector<Task<StreamWriter>> open;
  for (size_t k = 0; k < asked.size(); ++k) {
    const int question = static_cast<int>(k);
    chances.push_back(context.chance(asked[k].seed));
    Chooser chooser(*chances[k], asked[k].oracle);
    StreamWriter y(sequence, ends_with_oracle(asked[k]), chooser.forced(),
                   layout.answer(question, 1).position, context, question);
    open.push_back(decode_answer(sequence, layout, question, std::move(first.outputs[k]),
                                 std::move(chooser), request.job.sampling, std::move(y)));
  }
  std::vector<StreamWriter> y = co_await all(std::move(open));

  std::vector<Stream> streams;
  for (StreamWriter& one : y) streams.push_back(one.finish());
  Counters cost = sequence.finish();
  cost.add_beside(prompt.cost);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

}  // namespace

DecoderEntry ippd_entry() {
  const IppdOptions usual;
  return {.name = "ippd",
          .source = "Intra-Prompt Parallel Decoding for Common-Context Question Answering",
          .options = {Option::whole("contexts", usual.contexts, {1, kMostStacked},
                                    "l: number of contexts in one prompt"),
                      Option::flag("prefix_cache", usual.prefix_cache,
                                   "the instruction is computed once for all prompts")},
          .make = make_as<Ippd>,
          .oracles = {"references", "recorded"},
          .exact = true,
          .stack_option = "contexts",
          .baseline_asks = "separately"};
}

}  // namespace pardec
