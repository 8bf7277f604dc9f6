#include "decoders/free_running.hpp"

#include <algorithm>
#include <utility>

#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

Asking asking_of(const Options& options) {
  Asking asking;
  asking.together = options.text("ask") == "together";
  if (options.has("stack")) asking.stack = options.whole("stack");
  return asking;
}

Option ask_option() {
  return Option::one_of("ask", {"together", "separately"},
                        "one JSON answer for all fields, or one prompt per field");
}

Option stack_option() {
  return Option::whole("stack", Asking{}.stack, {1, kMostStacked}, "examples in one prompt");
}

std::vector<Option> with_asking(const std::vector<Option>& own) {
  std::vector<Option> all{ask_option(), stack_option()};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

void check_prompt(const RequestName& name, size_t tokens, const ModelConfig& config) {
  if (tokens == 0)
    throw ConfigError(str(name.text, ": the prompt has no token, expected at least one"));
  if (tokens > static_cast<size_t>(config.positions()))
    throw ModelError(name.text, str("context overflow: the prompt has ",
                                    counted(static_cast<std::int64_t>(tokens), "token"), ", ",
                                    config.positions_key(), " is ", config.positions(),
                                    "; use a shorter prompt or a smaller stack"));
}

// --- StreamWriter ---

StreamWriter::StreamWriter(Sequence& sequence, const StopRule& rule, bool forced, int position,
                           const DecoderContext& context, int stream)
    : sequence_(sequence),
      writer_(sequence, forced, stream),
      context_(context),
      rule_(rule),
      position_(position),
      eos_(rule.at_eos ? context.eos() : std::vector<Token>{}) {
  sequence.set_limit(rule.limit);
}

int StreamWriter::add(std::span<const Choice> choices, std::span<const int> rows,
                      std::span<const Token> rejected) {
  size_t added = 0;
  while (added < choices.size() && !ended_) {
    const bool guessed = added + 1 < choices.size();
    if (!guessed) writer_.reject(rows[added], rejected);
    add(choices[added], rows[added], guessed);
    ++added;
  }
  stream_.passes.push_back(static_cast<int>(added));
  if (rule_.reader) rule_.reader(stream_.bytes);
  if (!ended_ && context_.interrupted()) {  // the reader may have seen enough
    stream_.stop = Stop::interrupted;
    ended_ = true;
  }
  return static_cast<int>(added);
}

void StreamWriter::add(const Choice& choice, int row, bool guessed) {
  writer_.record(choice, row, stream_, guessed);
  stream_.last_row = row;
  if (context_.tokenizer) stream_.bytes += context_.tokenizer->bytes(choice.token);
  ended_ = true;
  if (contains(eos_, choice.token))
    stream_.stop = Stop::eos;
  else if (!rule_.until.empty() && stream_.bytes.find(rule_.until) != std::string::npos)
    stream_.stop = Stop::terminator;
  else if (static_cast<int>(stream_.tokens.size()) >= rule_.limit)
    stream_.stop = Stop::limit;
  else if (position_ >= context_.engine.model().config().positions())
    stream_.stop = Stop::context;
  else if (context_.interrupted())
    stream_.stop = Stop::interrupted;
  else
    ended_ = false;
  ++position_;
}

int StreamWriter::room() const {
  const int tokens = rule_.limit - static_cast<int>(stream_.tokens.size()) - 1;
  return std::max(0, std::min(tokens, context_.engine.model().config().positions() - position_));
}

Stream StreamWriter::finish() {
  Counters& counters = sequence_.counters();
  const auto chosen = std::ssize(stream_.tokens);
  const auto text = chosen - (stream_.stop == Stop::eos);
  const auto before = position_ - chosen;
  counters.text += text;
  counters.text_attended += text * before + text * (text - 1) / 2;
  counters.count_branch(chosen);
  return std::move(stream_);
}

// --- jobs ---

namespace {

/// All tokens in the order of choice.
Stream::Written as_chosen(const Stream& stream, const Tokenizer& tokenizer) {
  Stream::Written written;
  for (size_t i = 0; i < stream.tokens.size(); ++i) {
    written.choices.push_back(i);
    written.ends.push_back((i == 0 ? 0 : written.ends.back()) +
                           tokenizer.bytes(stream.tokens[i]).size());
  }
  return written;
}

/// The tokens [begin, end) of each value in a JSON answer, in the order of the text: from the end
/// of its key up to and including the line break. The keys are searched in order from byte `at` on;
/// empty: a key is missing.
std::vector<std::pair<int, int>> value_spans(const Stream& stream, const std::vector<size_t>& ends,
                                             const std::vector<Context>& contexts, size_t at) {
  const auto token_at = [&](size_t byte) {
    return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
  };
  std::vector<std::pair<int, int>> spans;
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

}  // namespace

StopRule ends_with_oracle(const StreamRequest& request) {
  StopRule rule = request.rule;
  if (request.oracle) rule.limit = std::min(rule.limit, static_cast<int>(request.oracle->size()));
  return rule;
}

std::uint64_t stream_seed(std::uint64_t seed, int index) {
  return index == 0 ? seed : derive_seed(seed, str("stream ", index));
}

namespace {

/// The request for the `index`-th stream of a job.
StreamRequest stream_request(const Request& request, RequestName name, Tokens prompt, StopRule rule,
                             int index) {
  StreamRequest out{.name = std::move(name),
                    .prompt = std::move(prompt),
                    .rule = rule,
                    .sampling = request.job.sampling,
                    .seed = stream_seed(request.job.seed, index),
                    .oracle = std::nullopt,
                    .index = index,
                    .acceptance = request.acceptance};
  if (request.oracle) {
    out.oracle = request.oracle->streams[static_cast<size_t>(index)];
    out.oracles = &*request.oracle;
  }
  if (!request.words.empty()) out.words = request.words.at(static_cast<size_t>(index));
  return out;
}

Task<Answers> decode_together(const FreeRunningDecoder& decoder, const Request& request,
                              const DecoderContext& context) {
  if (!context.tokenizer)
    throw ConfigError(str(decoder.name(),
                          " ask=together needs a tokenizer: it reads JSON; expected a Job, not "
                          "token ids"));
  StopRule rule;
  rule.limit = request.job.limits.max_new_tokens;
  rule.until = kAnswerClosing;
  if (request.reader)
    rule.reader = [&](std::string_view bytes) { request.reader(str(kAnswerOpening, bytes)); };
  Stream stream = co_await decoder.stream(
      stream_request(request, request.job.id, request.pieces.whole_prompt(), rule, 0), context);

  Answers answers;
  // No thought is open here, since the prompt already begins the answer.
  ThoughtReading reading = request.thinking;
  reading.opened = false;
  const Thought thought = reading.keep ? Thought{} : thought_of(stream.bytes, reading);
  const JsonAnswer parsed =
      parse_json_answer(repair_utf8(after_thought(stream.bytes, thought)), request.job.contexts);
  const Stream::Written written =
      stream.written ? *stream.written : as_chosen(stream, *context.tokenizer);
  const auto spans = request.oracle && !request.oracle->values.empty()
                         ? request.oracle->values
                         : value_spans(stream, written.ends, request.job.contexts, thought.bytes);
  size_t value = 0;
  for (size_t c = 0; c < parsed.values.size(); ++c) {
    auto& fields = answers.fields.emplace_back();
    for (size_t f = 0; f < parsed.values[c].size(); ++f) {
      FieldResult& field = fields.emplace_back();
      field.text = parsed.values[c][f];
      field.said_absent = parsed.said_absent[c][f];
      field.stop = stream.stop;
      const auto [begin, end] = spans[value++];
      for (auto i = static_cast<size_t>(begin);
           i < std::min(static_cast<size_t>(end), written.choices.size()); ++i) {
        const size_t choice = written.choices[i];
        field.tokens.push_back(stream.tokens[choice]);
        if (!stream.gaps.empty()) field.gaps.push_back(stream.gaps[choice]);
        if (!stream.unforced.empty()) field.unforced.push_back(stream.unforced[choice]);
      }
    }
  }
  if (thought.bytes > 0 && !answers.fields.empty() && !answers.fields[0].empty()) {
    const auto& ends = written.ends;
    const auto tokens = std::upper_bound(ends.begin(), ends.end(), thought.bytes) - ends.begin();
    const std::string thinking = repair_utf8(stream.bytes.substr(0, thought.bytes));
    answers.fields[0][0].thought = {
        {.bytes = thinking.size(), .tokens = tokens, .open = thought.open}};
  }
  answers.text = std::string(kAnswerOpening) + repair_utf8(stream.bytes);
  answers.stop = stream.stop;
  answers.parsed = parsed.parsed;
  answers.counters = std::move(stream.counters);
  static_cast<Chosen&>(answers) = std::move(stream);
  co_return answers;
}

Task<Answers> decode_separately(const FreeRunningDecoder& decoder, const Request& request,
                                const DecoderContext& context) {
  std::vector<StreamRequest> fields = field_requests(request);
  std::vector<Task<Stream>> tasks;
  for (StreamRequest& field : fields) tasks.push_back(decoder.stream(std::move(field), context));
  std::vector<Stream> streams = co_await all(std::move(tasks));
  Counters cost = shared_cost(streams);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

}  // namespace

int field_limit(const Request& request) {
  return request.form == Form::value ? request.job.limits.per_field
                                     : request.job.limits.max_new_tokens;
}

std::vector<StreamRequest> field_requests(const Request& request) {
  StopRule rule;
  rule.limit = field_limit(request);
  std::vector<StreamRequest> streams;
  for (size_t c = 0; c < request.pieces.fields.size(); ++c)
    for (size_t f = 0; f < request.pieces.fields[c].size(); ++f)
      streams.push_back(stream_request(
          request, {str(request.job.id, "/", c, "/", f), request.job.id},
          request.pieces.field_prompt(c, f), rule, static_cast<int>(streams.size())));
  if (streams.size() == 1) streams[0].rule.reader = request.reader;
  return streams;
}

std::vector<Tokens> field_references(
    const Request& request, const std::vector<std::vector<std::optional<std::string>>>& references,
    const DecoderContext& context) {
  const std::vector<Token> eos = context.eos();
  std::vector<Tokens> streams;
  for (const auto& values : references)
    for (const auto& value : values) {
      Tokens ids =
          context.tokenizer->encode_piece(" " + value.value_or(std::string(kAbsent)), false);
      if (!eos.empty()) ids.push_back(eos.front());
      ids.resize(std::min(ids.size(), static_cast<size_t>(field_limit(request))));
      streams.push_back(std::move(ids));
    }
  return streams;
}

Counters shared_cost(const std::vector<Stream>& streams) {
  Counters counters;
  std::vector<int> emitted;  // number of tokens emitted by all streams in pass t
  for (const Stream& stream : streams) {
    counters.add_beside(stream.counters);
    if (emitted.size() < stream.passes.size()) emitted.resize(stream.passes.size());
    for (size_t t = 0; t < stream.passes.size(); ++t) emitted[t] += stream.passes[t];
  }
  counters.forwards = std::ssize(emitted);
  counters.emitted.clear();
  for (const int count : emitted) ++counters.emitted[count];
  return counters;
}

Answers field_answers(const Request& request, std::vector<Stream> streams, Counters counters) {
  Answers answers;
  answers.counters = std::move(counters);
  // a single stream is the whole answer; several streams are stored with their fields
  if (streams.size() == 1) {
    static_cast<Chosen&>(answers) = streams[0];
    answers.stop = streams[0].stop;
  }
  auto stream = streams.begin();
  for (const auto& fields : request.pieces.fields) {
    auto& out = answers.fields.emplace_back();
    for (size_t f = 0; f < fields.size(); ++f, ++stream) {
      const std::string text = repair_utf8(stream->bytes);
      answers.text += (answers.text.empty() ? "" : "\n") + text;
      FieldResult& field = out.emplace_back();
      const ThoughtReading& reading = request.thinking;
      const Thought thought = thought_of(text, reading);
      const std::string_view said = reading.keep ? text : after_thought(text, thought);
      const bool value = request.form == Form::value;
      field.text = value ? parse_plain_value(said) : text;
      field.said_absent = value && says_absent(said);
      if (thought.bytes > 0 && reading.keep)
        field.thought = FieldResult::Written();
      else if (thought.bytes > 0 || thought.open)
        field.thought = {{.bytes = thought.bytes,
                          .text_bytes = value ? 0 : thought.bytes,
                          .open = thought.open}};
      field.stop = stream->stop;
      static_cast<Chosen&>(field) = std::move(*stream);
    }
    answers.parsed.push_back(true);
  }
  return answers;
}

Task<Answers> FreeRunningDecoder::decode(const Request& request,
                                         const DecoderContext& context) const {
  return request.form == Form::json ? decode_together(*this, request, context)
                                    : decode_separately(*this, request, context);
}

}  // namespace pardec
