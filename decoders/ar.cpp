// Autoregressive decoding (AR): the baseline of every comparison.
//
// Idea: x_{t+1} is chosen from the logits of x_t, and fed in the next forward pass. Three ways of
// asking:
//   ask=together: one JSON answer with all fields of the job's contexts; it ends at </result> or at
//     the end of sequence.
//   ask=separately: one prompt a field; its answer ends at the end of sequence or at the limit per
//     field. What prompts begin with can be computed once for all (prefix_cache): the
//     instruction for all jobs, or the context too for its fields.
//   forced_keys: the JSON answer's keys are fed as known, and only values are decoded, one after
//     another: what a skeleton gains without parallel values.
// Open prompts are asked separately with one field.
//
// Differs from HF `generate`: nothing; greedy ids are equal in fp32.
#include "decoders/ar.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "decoders/ar_format.hpp"
#include "src/engine/prefix_cache.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What is computed once for all prompts that begin with it.
enum class Once { nothing, instruction, context };

class Ar final : public FreeRunningDecoder {
 public:
  explicit Ar(const Options& options)
      : FreeRunningDecoder(options),
        forced_keys_(options.flag("forced_keys")),
        once_(options.choice<Once>("prefix_cache")) {
    const bool together = form() == Form::json;
    if (forced_keys_ && !together)
      throw ConfigError("ar.forced_keys goes with ask=together only");
    if (once_ != Once::nothing && together)
      throw ConfigError("ar.prefix_cache goes with ask=separately only");
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
  bool forced_keys_;  ///< the answer's keys are fed, only values are decoded, one after another
  Once once_;
};

/// One token at its natural position.
void add(Step& step, Token token, int position, Origin origin, int from = -1) {
  step.add(token, text_label(position), origin, from);
}

/// x_{t+1} from x_t until `rule` ends it; `seen` holds the logits of the last row fed.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context) {
  StreamWriter writer(sequence, rule, chooser.forced(), sequence.rows_fed(), context);
  for (;;) {
    const int row = sequence.rows_fed() - 1;
    const Choice choice = chooser.choose(seen.outputs[0]);
    writer.add({&choice, 1}, {&row, 1});
    if (writer.ended()) co_return writer.finish();
    Step step;
    add(step, choice.token, sequence.rows_fed(), Origin::chosen, chooser.forced() ? -1 : row);
    step.want(0, sampling);
    seen = co_await sequence.forward(std::move(step));
  }
}

}  // namespace

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

/// Each field behind a fork of `prefix`, which is given up then: no rows are held for nobody.
std::vector<Task<Stream>> continue_behind(Sequence prefix, std::vector<StreamRequest> fields,
                                          std::int64_t asked, const DecoderContext& context) {
  std::vector<Task<Stream>> tasks;
  for (StreamRequest& field : fields) {
    Sequence sequence = prefix.fork(field.name);
    sequence.start_clock_at(asked);
    field.prompt.erase(field.prompt.begin(), field.prompt.begin() + prefix.rows_fed());
    tasks.push_back(continue_prompt(std::move(sequence), std::move(field), context));
  }
  return tasks;
}

/// The fields of one context, side by side, each behind its fork of `prefix` and of the `shared`
/// tokens that come next, which are fed once. `waited`: forward passes of this job before.
Task<std::vector<Stream>> decode_behind(Sequence prefix, Tokens shared,
                                        std::vector<StreamRequest> fields, std::int64_t asked,
                                        std::int64_t waited, const DecoderContext& context) {
  Counters cost;
  if (!shared.empty()) {
    co_await prefix.forward(prompt_step(shared, prefix.rows_fed()));
    cost = prefix.counters();
    ++waited;
  }
  std::vector<Task<Stream>> tasks =
      continue_behind(std::move(prefix), std::move(fields), asked, context);
  std::vector<Stream> streams = co_await all(std::move(tasks));
  for (Stream& stream : streams)
    stream.passes.insert(stream.passes.begin(), static_cast<size_t>(waited), 0);
  if (!streams.empty()) streams.front().counters += cost;
  co_return streams;
}

/// ask=separately where the prompts share what they begin with.
Task<Answers> decode_behind_prefix(const Request& request, bool with_context,
                                   const DecoderContext& context) {
  std::vector<StreamRequest> fields = field_requests(request);
  for (const StreamRequest& field : fields)
    check_prompt(field.name, field.prompt.size(), context.engine.model().config());
  const std::int64_t asked = context.engine.clock().now_ns();
  std::vector<Task<std::vector<Stream>>> tasks;
  Counters prefix_cost;
  {
    Prefixed prefix =
        co_await context.engine.prefixes().begin(request.pieces.prefix, request.job.id, "ar");
    prefix_cost = prefix.cost;
    auto next = std::make_move_iterator(fields.begin());
    for (size_t c = 0; c < request.pieces.fields.size(); ++c) {
      const auto end = next + std::ssize(request.pieces.fields[c]);
      tasks.push_back(decode_behind(prefix.sequence.fork(request.job.id),
                                    with_context ? request.pieces.contexts[c] : Tokens{},
                                    {next, end}, asked, prefix_cost.forwards, context));
      next = end;
    }
  }  // the contexts have their forks
  std::vector<std::vector<Stream>> contexts = co_await all(std::move(tasks));
  std::vector<Stream> streams;
  for (auto& of_context : contexts)
    std::move(of_context.begin(), of_context.end(), std::back_inserter(streams));
  if (!streams.empty()) streams.front().counters += prefix_cost;
  Counters cost = shared_cost(streams);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError(
        "ar.forced_keys needs a tokenizer: a value ends at a line break; expected a Job, not token "
        "ids");
  const auto chance = context.chance(request.job.seed);
  Sequence sequence = context.engine.open(request.job.id, "ar");
  const JsonSkeleton skeleton = json_skeleton(request.job.contexts);
  const int context_length = context.engine.model().config().positions();
  Answers answers;
  answers.text = kAnswerOpening;
  Step step;
  for (const Token token : request.pieces.whole_prompt())
    add(step, token, step.size(), Origin::prompt);
  size_t r = 0;
  for (const Context& product : request.job.contexts) {
    auto& fields = answers.fields.emplace_back();
    for (size_t n = 0; n < product.fields.size(); ++n, ++r) {
      const int begin = sequence.rows_fed();
      for (const Token token : request.pieces.segments[r])
        add(step, token, begin + step.size(), Origin::forced);
      if (begin + step.size() > context_length)
        throw ModelError(request.job.id, str("context overflow: the answer's keys need more than ",
                                             context.engine.model().config().positions_key(), " (",
                                             context_length, ") positions; use a smaller stack"));
      step.want(step.size() - 1, request.job.sampling);
      StepResult seen = co_await sequence.forward(std::exchange(step, Step{}));
      StopRule rule;
      rule.limit = request.job.limits.per_field;
      rule.until = "\n";
      rule.at_eos = false;
      std::optional<Tokens> forced;
      if (request.oracle) {
        forced = request.oracle->streams[r];
        rule.limit = std::min(rule.limit, static_cast<int>(forced->size()));
      }
      Stream stream = co_await continue_from(sequence, std::move(seen), Chooser(*chance, forced),
                                             request.job.sampling, rule, context);
      if (stream.stop == Stop::terminator)
        sequence.counters().text -= rstrip(context.tokenizer->bytes(stream.tokens.back())).empty();
      // A line break that ends a value is part of the next key's text already; a value cut short is
      // fed to its end.
      else
        add(step, stream.tokens.back(), sequence.rows_fed(), Origin::chosen,
            request.oracle ? -1 : stream.last_row);
      FieldResult& field = fields.emplace_back();
      field.text = parse_json_value(repair_utf8(stream.bytes));
      field.tokens = std::move(stream.tokens);
      field.unforced = std::move(stream.unforced);
      field.gaps = std::move(stream.gaps);
      field.stop = stream.stop;
      answers.text += skeleton.segments[r] + json_value(field.text, n + 1 == product.fields.size());
    }
    answers.parsed.push_back(true);
  }
  answers.text += skeleton.tail;
  answers.stop = Stop::terminator;
  answers.counters = sequence.finish();
  co_return answers;
}

Oracle Ar::reference_oracle(const Request& request,
                            const std::vector<std::vector<std::optional<std::string>>>& references,
                            const DecoderContext& context) const {
  if (request.form != Form::json) return {field_references(request, references, context), {}};
  const Tokenizer& tokenizer = *context.tokenizer;
  Oracle oracle;
  const auto extend = [](Tokens& to, const Tokens& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  Tokens whole;
  size_t r = 0;
  for (const auto& values : references)
    for (size_t n = 0; n < values.size(); ++n, ++r) {
      const std::string value = json_value(values[n], n + 1 == values.size());
      if (forced_keys_) {
        oracle.streams.push_back(
            ids_through_line_break(value + "\n", request.job.limits.per_field, tokenizer));
      } else {
        // Key by key and value by value, as hpd's ids are cut, so that the two can be compared
        // choice by choice.
        extend(whole, request.pieces.segments[r]);
        const int begin = static_cast<int>(whole.size());
        extend(whole, tokenizer.encode_piece(value, false));
        oracle.values.emplace_back(begin, static_cast<int>(whole.size()));
      }
    }
  if (!forced_keys_) {
    extend(whole, tokenizer.encode_piece(json_skeleton(request.job.contexts).tail, false));
    oracle.streams.push_back(std::move(whole));
  }
  return oracle;
}

Task<Answers> Ar::decode(const Request& request, const DecoderContext& context) const {
  if (request.form == Form::json && forced_keys_) return decode_forced_keys(request, context);
  // The last row of an open prompt is the prefix's: there is nothing behind it to feed.
  const auto& fields = request.pieces.fields;
  const bool open = std::any_of(fields.begin(), fields.end(), [](const auto& of_context) {
    return std::any_of(of_context.begin(), of_context.end(),
                       [](const Tokens& field) { return field.empty(); });
  });
  if (request.form == Form::json || once_ == Once::nothing || open)
    return FreeRunningDecoder::decode(request, context);
  return decode_behind_prefix(request, once_ == Once::context, context);
}

}  // namespace

DecoderEntry ar_entry() {
  return {.name = kPlainDecoder,
          .source = "-",
          .options = {ask_option(),
                      Option::flag("forced_keys", false,
                                   "the answer's keys are fed, values alone are decoded, one "
                                   "after another"),
                      stack_option(),
                      Option::one_of("prefix_cache", {"none", "instruction", "context"},
                                     "what ask=separately computes once: the instruction for all "
                                     "jobs, the context too for its fields")},
          .make = make_as<Ar>,
          .oracles = {"references", "recorded"},
          .stack_option = "stack",
          .baseline_asks = "together",
          .formats = ar_formats(),
          .training_options = ar_training_options()};
}

}  // namespace pardec
