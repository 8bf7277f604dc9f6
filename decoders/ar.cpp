// Autoregressive decoding (AR): the baseline of every comparison.
//
// Idea: x_{t+1} is chosen from the logits of x_t, and fed in the next forward pass. Three ways of
// asking:
//   ask=together     one JSON answer with all fields of the job's contexts, ends at </result> or
//   end of sequence ask=separately   one prompt a field, its answer ends at end of sequence or at
//   the limit per field forced_keys      the JSON answer's keys are fed as known, and only values
//   are decoded, one after another: what a
//                    skeleton gains without parallel values
// Open prompts are asked separately with one field.
//
// Differs from HF `generate`: nothing; greedy ids are equal in fp32.
#include "decoders/ar.hpp"

#include <algorithm>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// When a stream ends besides at end of sequence.
struct StopRule {
  int limit = 0;           ///< ids chosen at most
  std::string_view until;  ///< the answer ends with the token that completes this text; empty: none
  bool at_eos = true;
};

/// What one stream of choices gave.
struct Stream {
  Tokens tokens, unforced;
  std::vector<float> gaps;
  std::string bytes;  ///< text of the tokens
  Stop stop = Stop::limit;
  int last_row = 0;  ///< the row that chose the last token, which is not fed
};

class Ar final : public Decoder {
 public:
  explicit Ar(ArOptions options) : options_(options) {}

  std::string_view name() const override { return "ar"; }
  Form form() const override { return options_.together ? Form::json : Form::value; }
  int stack() const override { return options_.stack; }
  OrderedJson options() const override {
    return {{"ask", options_.together ? "together" : "separately"},
            {"forced_keys", options_.forced_keys},
            {"stack", options_.stack}};
  }
  Oracle reference_oracle(const Request& request,
                          const std::vector<std::vector<std::optional<std::string>>>& references,
                          const DecoderContext& context) const override;
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

 private:
  ArOptions options_;
};

Chooser chooser_of(const Request& request, Rng& rng, int stream) {
  return Chooser(rng, request.oracle
                          ? std::optional(request.oracle->streams[static_cast<size_t>(stream)])
                          : std::nullopt);
}

void count(const Stream& stream, Counters& counters) {
  counters.chosen += static_cast<std::int64_t>(stream.tokens.size());
  counters.text += static_cast<std::int64_t>(stream.tokens.size()) - (stream.stop == Stop::eos);
  counters.branch_lengths.push_back(static_cast<std::int64_t>(stream.tokens.size()));
}

/// One token at its natural position.
void add(Step& step, Token token, int position, Origin origin, int from = -1) {
  step.add(token, {.position = position, .order = position, .segment = 0, .rank = 0}, origin, from);
}

/// The prompt, with the logits of its last row.
Step prefill(const Request& request, const Tokens& prompt, const DecoderContext& context) {
  if (prompt.empty())
    throw ConfigError(str(request.job.id, ": the prompt has no token, expected at least one"));
  const ModelConfig& config = context.engine.model().config();
  const auto context_length = static_cast<size_t>(config.positions());
  if (prompt.size() > context_length)
    throw ModelError(
        request.job.id,
        str("context overflow: the prompt has ", prompt.size(), " tokens, ", config.positions_key(),
            " is ", context_length, "; use a shorter prompt or a smaller stack"));
  Step step;
  for (const Token token : prompt) add(step, token, step.size(), Origin::prompt);
  step.want(step.size() - 1, request.job.sampling);
  return step;
}

/// x_{t+1} from x_t until `rule` ends it; `seen` holds the logits of the last row fed.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context) {
  const std::vector<Token> eos = context.eos();
  Stream stream;
  int row = sequence.rows_fed() - 1;
  for (;;) {
    const Choice choice = chooser.choose(seen.outputs[0]);
    sequence.emit(row);
    stream.tokens.push_back(choice.token);
    stream.gaps.push_back(choice.gap);
    stream.last_row = row;
    if (chooser.forced()) stream.unforced.push_back(choice.unforced);
    if (context.tokenizer) stream.bytes += context.tokenizer->bytes(choice.token);
    if (rule.at_eos && std::find(eos.begin(), eos.end(), choice.token) != eos.end())
      stream.stop = Stop::eos;
    else if (!rule.until.empty() && stream.bytes.find(rule.until) != std::string::npos)
      stream.stop = Stop::terminator;
    else if (static_cast<int>(stream.tokens.size()) >= rule.limit || chooser.used_up())
      stream.stop = Stop::limit;
    else if (sequence.rows_fed() >= context.engine.model().config().positions())
      stream.stop = Stop::context;
    else {
      Step step;
      add(step, choice.token, sequence.rows_fed(), Origin::chosen, chooser.forced() ? -1 : row);
      step.want(0, sampling);
      seen = co_await sequence.forward(std::move(step));
      row = seen.first_row;
      continue;
    }
    co_return stream;
  }
}

/// Ids [begin, end) of each value in a JSON answer's stream: from behind its key up to and with the
/// line break. Found by the keys' texts in order; empty where a key is missing.
std::vector<std::pair<int, int>> value_spans(const Stream& stream,
                                             const std::vector<Context>& contexts,
                                             const Tokenizer& tokenizer) {
  std::vector<size_t> ends;  // byte at which each token ends
  for (const Token token : stream.tokens)
    ends.push_back((ends.empty() ? 0 : ends.back()) + tokenizer.bytes(token).size());
  const auto token_at = [&](size_t byte) {
    return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
  };
  std::vector<std::pair<int, int>> spans;
  size_t at = 0;
  for (const Context& context : contexts)
    for (const Field& field : context.fields) {
      const std::string key = dump(Json(field.name)) + ":";
      const size_t found = stream.bytes.find(key, at);
      if (found == std::string::npos) {
        spans.emplace_back(0, 0);
        continue;
      }
      const size_t begin = found + key.size();
      at = std::min(stream.bytes.find('\n', begin), stream.bytes.size());
      spans.emplace_back(token_at(begin),
                         std::min(token_at(at) + 1, static_cast<int>(ends.size())));
    }
  return spans;
}

Task<Answers> decode_together(const Request& request, const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError(
        "ar ask=together needs a tokenizer: it reads JSON; expected a Job, not token ids");
  Rng rng(request.job.seed);
  Sequence sequence = context.engine.open(request.job.id, "ar");
  StepResult seen =
      co_await sequence.forward(prefill(request, request.pieces.whole_prompt(), context));
  StopRule rule;
  rule.limit = request.job.limits.max_new_tokens;
  rule.until = kAnswerClosing;
  Stream stream = co_await continue_from(sequence, std::move(seen), chooser_of(request, rng, 0),
                                         request.job.sampling, rule, context);
  count(stream, sequence.counters());

  Answers answers;
  const std::string text = repair_utf8(stream.bytes);
  const JsonAnswer parsed = parse_json_answer(text, request.job.contexts);
  const auto spans = request.oracle ? request.oracle->values
                                    : value_spans(stream, request.job.contexts, *context.tokenizer);
  size_t value = 0;
  for (const auto& values : parsed.values) {
    auto& fields = answers.fields.emplace_back();
    for (const auto& read : values) {
      FieldResult& field = fields.emplace_back();
      field.text = read;
      field.stop = stream.stop;
      const auto [begin, end] = spans[value++];
      for (auto i = static_cast<size_t>(begin);
           i < std::min(static_cast<size_t>(end), stream.tokens.size()); ++i) {
        field.tokens.push_back(stream.tokens[i]);
        field.gaps.push_back(stream.gaps[i]);
        if (request.oracle) field.unforced.push_back(stream.unforced[i]);
      }
    }
  }
  answers.text = std::string(kAnswerOpening) + text;
  answers.tokens = std::move(stream.tokens);
  answers.gaps = std::move(stream.gaps);
  answers.stop = stream.stop;
  answers.parsed = parsed.parsed;
  answers.counters = sequence.finish();
  co_return answers;
}

Task<FieldResult> decode_field(const Request& request, size_t c, size_t f, int stream_index,
                               Rng& rng, Counters& counters, const DecoderContext& context) {
  Sequence sequence = context.engine.open(str(request.job.id, "/", c, "/", f), "ar");
  StepResult seen =
      co_await sequence.forward(prefill(request, request.pieces.field_prompt(c, f), context));
  StopRule rule;
  rule.limit = request.form == Form::value ? request.job.limits.per_field
                                           : request.job.limits.max_new_tokens;
  Stream stream =
      co_await continue_from(sequence, std::move(seen), chooser_of(request, rng, stream_index),
                             request.job.sampling, rule, context);
  count(stream, sequence.counters());
  counters += sequence.finish();
  FieldResult answer;
  answer.text = repair_utf8(stream.bytes);
  answer.tokens = std::move(stream.tokens);
  answer.unforced = std::move(stream.unforced);
  answer.gaps = std::move(stream.gaps);
  answer.stop = stream.stop;
  co_return answer;
}

/// The fields' steps share their forward passes: pass t gives one id to every field still open.
void count_shared_passes(const std::vector<FieldResult>& fields, Counters& counters) {
  std::vector<std::int64_t> lengths;
  for (const auto& field : fields) lengths.push_back(std::ssize(field.tokens));
  counters.forwards = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  counters.emitted.clear();
  for (std::int64_t t = 1; t <= counters.forwards; ++t)
    ++counters.emitted[static_cast<int>(
        std::count_if(lengths.begin(), lengths.end(), [&](std::int64_t k) { return t <= k; }))];
  counters.branch_lengths = std::move(lengths);
}

Task<Answers> decode_separately(const Request& request, const DecoderContext& context) {
  Rng rng(request.job.seed);
  Answers answers;
  std::vector<Task<FieldResult>> tasks;
  for (size_t c = 0; c < request.pieces.fields.size(); ++c)
    for (size_t f = 0; f < request.pieces.fields[c].size(); ++f)
      tasks.push_back(decode_field(request, c, f, static_cast<int>(tasks.size()), rng,
                                   answers.counters, context));
  std::vector<FieldResult> all_fields = co_await all(std::move(tasks));
  count_shared_passes(all_fields, answers.counters);
  size_t next = 0;
  for (const auto& fields : request.pieces.fields) {
    auto& out = answers.fields.emplace_back();
    for (size_t f = 0; f < fields.size(); ++f) {
      FieldResult& field = out.emplace_back(std::move(all_fields[next++]));
      answers.text += (answers.text.empty() ? "" : "\n") + *field.text;
      if (request.form == Form::value) field.text = parse_plain_value(*field.text);
    }
    answers.parsed.push_back(true);
  }
  // One stream is an answer of its own; several stand with their fields.
  if (next == 1) {
    const FieldResult& only = answers.fields.front().front();
    answers.tokens = only.tokens;
    answers.gaps = only.gaps;
    answers.stop = only.stop;
  }
  co_return answers;
}

Task<Answers> decode_forced_keys(const Request& request, const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError(
        "ar.forced_keys needs a tokenizer: a value ends at a line break; expected a Job, not token "
        "ids");
  Rng rng(request.job.seed);
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
      Stream stream = co_await continue_from(sequence, std::move(seen),
                                             chooser_of(request, rng, static_cast<int>(r)),
                                             request.job.sampling, rule, context);
      count(stream, sequence.counters());
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
  const Tokenizer& tokenizer = *context.tokenizer;
  const std::vector<Token> eos = context.eos();
  Oracle oracle;
  const auto extend = [](Tokens& to, const Tokens& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  Tokens whole;
  size_t r = 0;
  for (const auto& values : references)
    for (size_t n = 0; n < values.size(); ++n, ++r) {
      const std::string value = json_value(values[n], n + 1 == values.size());
      if (request.form != Form::json) {
        Tokens ids = tokenizer.encode_piece(" " + values[n].value_or(std::string(kAbsent)), false);
        if (!eos.empty()) ids.push_back(eos.front());
        ids.resize(std::min(ids.size(), static_cast<size_t>(request.job.limits.per_field)));
        oracle.streams.push_back(std::move(ids));
      } else if (options_.forced_keys) {
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
  if (request.form == Form::json && !options_.forced_keys) {
    extend(whole, tokenizer.encode_piece(json_skeleton(request.job.contexts).tail, false));
    oracle.streams.push_back(std::move(whole));
  }
  return oracle;
}

Task<Answers> Ar::decode(const Request& request, const DecoderContext& context) const {
  if (request.form != Form::json) return decode_separately(request, context);
  return options_.forced_keys ? decode_forced_keys(request, context)
                              : decode_together(request, context);
}

}  // namespace

std::unique_ptr<Decoder> make_ar(const Json& options) {
  ArOptions chosen;
  JsonReader read(options, "decoder ar");
  const std::string ask = read.optional<std::string>("ask", "together");
  chosen.forced_keys = read.optional<bool>("forced_keys", false);
  chosen.stack = read.optional<int>("stack", 1);
  read.finish();
  if (ask != "together" && ask != "separately")
    throw ConfigError(str("ar.ask is '", ask, "', expected together or separately"));
  chosen.together = ask == "together";
  if (chosen.forced_keys && !chosen.together)
    throw ConfigError("ar.forced_keys goes with ask=together only");
  if (chosen.stack < 1)
    throw ConfigError(str("ar.stack is ", chosen.stack, ", expected at least 1"));
  return std::make_unique<Ar>(chosen);
}

}  // namespace pardec
