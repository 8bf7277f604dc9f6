// Autoregressive decoding (AR): the baseline of every comparison.
//
// Idea: x_{t+1} is chosen from the logits of x_t, and is the input of the next forward pass. There
// are four ways to answer fields:
//   ask=together: one JSON answer with all fields of the job's contexts; it ends at </result> or at
//     the end of sequence.
//   ask=separately: one prompt per field; its answer ends at the end of sequence or at the limit
//     per field. Common beginnings of prompts can be computed once (prefix_cache): the instruction
//     for all jobs, or also each context for its fields.
//   forced_keys: the JSON answer's keys are inserted, and only values are decoded, one after
//     another. This shows the benefit of a skeleton without parallel values.
//   choose: multiple-choice questions are not answered by generating; the choice with the highest
//     likelihood is taken (choose.hpp).
// Open prompts are asked separately with one field.
//
// Differences from HF `generate`: none; greedy ids are equal in fp32.
#include "decoders/ar/ar.hpp"

#include <algorithm>
#include <utility>

#include "decoders/ar/choose.hpp"
#include "decoders/ar/forced_keys.hpp"
#include "decoders/ar/format.hpp"
#include "decoders/ar/shared_prefix.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The common beginning of prompts that is computed once.
enum class Once { nothing, instruction, context };
constexpr std::array kChoosing{Named<Choosing>{"written", Choosing::written},
                               Named<Choosing>{"likelihood", Choosing::likelihood},
                               Named<Choosing>{"per_character", Choosing::per_character}};
constexpr std::array kOnce{Named<Once>{"none", Once::nothing},
                           Named<Once>{"instruction", Once::instruction},
                           Named<Once>{"context", Once::context}};

class Ar final : public FreeRunningDecoder {
 public:
  explicit Ar(const Options& options)
      : FreeRunningDecoder(options),
        forced_keys_(options.flag("forced_keys")),
        once_(options.choice("prefix_cache", kOnce)),
        choosing_(options.choice("choose", kChoosing)) {
    const bool together = form() == Form::json;
    if (forced_keys_ && !together) throw ConfigError("ar.forced_keys goes with ask=together only");
    if (once_ != Once::nothing && together)
      throw ConfigError("ar.prefix_cache goes with ask=separately only");
    if (choosing_ != Choosing::written && (together || once_ != Once::nothing))
      throw ConfigError("ar.choose goes with ask=separately and prefix_cache=none only");
  }

  Oracle reference_oracle(const Request& request,
                          const std::vector<std::vector<std::optional<std::string>>>& references,
                          const DecoderContext& context) const override;
  std::int64_t positions_needed(const Request& request) const override {
    return forced_keys_ && request.form == Form::json ? positions_with_skeleton(request)
                                                      : Decoder::positions_needed(request);
  }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override;

 private:
  /// the answer's keys are inserted, and only values are decoded, one after another
  bool forced_keys_;
  Once once_;
  Choosing choosing_;
};

}  // namespace

Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context) {
  StreamWriter writer(sequence, rule, chooser.forced(), sequence.rows_fed(), context);
  for (;;) {
    const int row = sequence.rows_fed() - 1;
    const Choice choice = chooser.choose(seen.outputs[0]);
    writer.add({&choice, 1}, {&row, 1});
    if (writer.ended()) co_return writer.finish();
    Step step;
    step.add(choice.token, text_label(sequence.rows_fed()), Origin::chosen,
             chooser.forced() ? -1 : row);
    step.want(0, sampling);
    seen = co_await sequence.forward(std::move(step));
  }
}

Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context) {
  const auto chance = context.chance(request.seed);
  Step rest = prompt_step(request.prompt, sequence.rows_fed());
  rest.want(rest.size() - 1, request.sampling);
  StepResult seen = co_await sequence.forward(std::move(rest));
  Stream stream =
      co_await continue_from(sequence, std::move(seen), Chooser(*chance, request.oracle),
                             request.sampling, ends_with_oracle(request), context);
  stream.counters = sequence.finish();
  co_return stream;
}

namespace {

Task<Stream> Ar::stream(StreamRequest request, const DecoderContext& context) const {
  check_prompt(request.name, request.prompt.size(), context.engine.model().config());
  Sequence sequence = context.engine.open(request.name, "ar");
  co_return co_await continue_prompt(std::move(sequence), std::move(request), context);
}

Oracle Ar::reference_oracle(const Request& request,
                            const std::vector<std::vector<std::optional<std::string>>>& references,
                            const DecoderContext& context) const {
  if (request.form != Form::json) return {field_references(request, references, context), {}};
  const Tokenizer& tokenizer = *context.tokenizer;
  if (forced_keys_) return forced_key_references(request, references, tokenizer);
  // Key by key and value by value, with ids divided as in HPD, so that the two decoders can be
  // compared choice by choice.
  Oracle oracle;
  Tokens whole;
  const auto extend = [&](const Tokens& more) {
    whole.insert(whole.end(), more.begin(), more.end());
  };
  size_t r = 0;
  for (const auto& values : references)
    for (size_t n = 0; n < values.size(); ++n, ++r) {
      extend(request.pieces.segments[r]);
      const int begin = static_cast<int>(whole.size());
      extend(tokenizer.encode_piece(json_value(values[n], n + 1 == values.size()), false));
      oracle.values.emplace_back(begin, static_cast<int>(whole.size()));
    }
  extend(tokenizer.encode_piece(json_skeleton(request.job.contexts).tail, false));
  oracle.streams.push_back(std::move(whole));
  return oracle;
}

Task<Answers> Ar::decode(const Request& request, const DecoderContext& context) const {
  if (request.form == Form::json && forced_keys_) return decode_forced_keys(request, context);
  if (request.form == Form::value && choosing_ != Choosing::written)
    return choose_answers(*this, choosing_, request, context);
  // The last row of an open prompt belongs to the prefix; no tokens follow it.
  const auto& fields = request.pieces.fields;
  const bool open = std::any_of(fields.begin(), fields.end(), [](const auto& of_context) {
    return std::any_of(of_context.begin(), of_context.end(),
                       [](const Tokens& field) { return field.empty(); });
  });
  if (request.form == Form::json || once_ == Once::nothing || open)
    return FreeRunningDecoder::decode(request, context);
  return decode_after_prefix(request, once_ == Once::context, context);
}

}  // namespace

DecoderEntry ar_entry() {
  return {.name = kPlainDecoder,
          .source = "-",
          .options = {ask_option(),
                      Option::flag("forced_keys", false,
                                   "keys of the JSON answer are inserted; only values are "
                                   "generated, one after another"),
                      stack_option(),
                      Option::one_of("prefix_cache", kOnce,
                                     "ask=separately: the beginning of prompts that is computed "
                                     "once: the instruction, or also a context"),
                      Option::one_of("choose", kChoosing,
                                     "ask=separately: a multiple-choice question is answered by "
                                     "generating, or with the choice of the highest likelihood, "
                                     "or of the highest likelihood per character")},
          .make = make_as<Ar>,
          .oracles = {"references", "recorded"},
          .stack_option = "stack",
          .baseline_asks = "together",
          .formats = ar_formats(),
          .training_options = ar_training_options()};
}

}  // namespace pardec
