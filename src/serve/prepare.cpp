#include "src/serve/prepare.hpp"

#include <algorithm>
#include <utility>

#include "src/serve/api_error.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tasks/request.hpp"

namespace pardec::serve {

namespace {

/// A conversation as an open prompt: the last message is asked after the earlier ones.
Job chat_job(const Ask& ask, const DecodeOptions& options) {
  std::vector<ChatMessage> messages = ask.messages;
  const auto refuse = [](const std::string& what) { throw ApiError(400, what, "messages"); };
  if (messages.back().role != "user")
    refuse(str("the last message is the ", messages.back().role, "'s, expected the user's"));
  Job job = open_job("prompt-1", messages.back().content, options);
  messages.pop_back();
  if (!messages.empty() && messages.front().role == "system") {
    job.system = messages.front().content;
    messages.erase(messages.begin());
  }
  for (std::size_t i = 0; i < messages.size(); i += 2) {
    if (messages[i].role != "user" || i + 1 == messages.size() ||
        messages[i + 1].role != "assistant")
      refuse(
          "the messages do not alternate; expected the system's at most once and first, then the "
          "user's and the assistant's in turn");
    job.shots.push_back({"", messages[i].content, messages[i + 1].content});
  }
  return job;
}

/// A Job with the requested fields of the response.
Job fields_job(const Ask& ask, const DecodeOptions& options) {
  const ChatMessage& text = ask.messages.back();
  const bool system = ask.messages.size() == 2 && ask.messages.front().role == "system";
  if (text.role != "user" || ask.messages.size() != (system ? 2 : 1))
    throw ApiError(400,
                   "with a 'response_format' of fields, expected one message of the user's, after "
                   "at most one of the system's",
                   "messages");
  Job job = empty_job(options);
  job.id = "prompt-1";
  if (system) job.system = ask.messages.front().content;
  job.contexts.push_back({"text", ask.fields->title, text.content, ask.fields->fields});
  return job;
}

/// Whether the decoder's answer has a text for each field of a Job, whatever the network chooses.
bool fills_fields(const ServedModel& model) {
  return model.algorithm->form() == Form::value || !find_decoder(model.decoder).free_running;
}

void check_fits(const Ask& ask, const ServedModel& model) {
  const DecoderEntry& entry = find_decoder(model.decoder);
  const bool fields = ask.fields || ask.job;
  if (!fields && !entry.free_running)
    throw ApiError(400,
                   str("decoder ", entry.name,
                       " fills the fields of a response_format of type json_schema or of a "
                       "'pardec.job', and takes no open prompt"),
                   "model");
  if (fields && (ask.prompt_logprobs || ask.min_tokens > 0)) {
    const char* const param = ask.prompt_logprobs ? "prompt_logprobs" : "min_tokens";
    throw ApiError(400, str("'", param, "' does not go with fields"), param);
  }
  const bool reads_in_order = entry.exact || entry.name == kPlainDecoder;
  if (ask.min_tokens > 0 && !reads_in_order)
    throw ApiError(400,
                   str("'min_tokens' is that of one text in reading order; decoder ", entry.name,
                       " may write several, expected no 'min_tokens'"),
                   "min_tokens");
  if (ask.logprobs && (ask.fields || !reads_in_order))
    throw ApiError(400,
                   str("'logprobs' are those of a text that is written in reading order; decoder ",
                       entry.name, ask.fields ? " fills fields here" : " may write in another one",
                       ", expected no 'logprobs'"),
                   "logprobs");
  if (ask.fields && !fills_fields(model))
    throw ApiError(400,
                   str("decoder ", entry.name,
                       " cannot promise a 'response_format'; expected a decoder that fills fields, "
                       "or option ask=separately"),
                   "response_format");
}

std::string text_of(const std::variant<std::string, Tokens>& prompt, const Tokenizer& tokenizer) {
  const auto* const text = std::get_if<std::string>(&prompt);
  return text ? *text : tokenizer.decode(std::get<Tokens>(prompt), true);
}

/// Number of different tokens of the prompts.
std::int64_t prompt_tokens(const Pieces& pieces) {
  std::int64_t tokens = std::ssize(pieces.whole_prompt());
  for (const Tokens& context : pieces.contexts) tokens += std::ssize(context);
  for (const auto& fields : pieces.fields)
    for (const Tokens& field : fields) tokens += std::ssize(field);
  return tokens;
}

/// Maximum number of tokens of the answer.
std::int64_t answer_rows(const Request& request) {
  if (request.form != Form::value) return request.job.limits.max_new_tokens;
  std::int64_t fields = 0;
  for (const Context& context : request.job.contexts) fields += std::ssize(context.fields);
  return fields * request.job.limits.per_field;
}

std::vector<GivenRequests> given_requests(const Ask& ask, const ServedModel& model,
                                          const DecodeOptions& options, const Session& session) {
  std::vector<GivenRequests> all;
  if (ask.job) {
    const Job job = parse_job(*ask.job, "pardec.job", empty_job(options));
    if (std::ssize(job.contexts) > model.algorithm->stack())
      throw ApiError(
          400,
          str("'pardec.job' has ", job.contexts.size(), " contexts, and model ", model.id,
              " takes ", model.algorithm->stack(), " in one prompt; expected no more"),
          "pardec");
    all.push_back(job_requests({job}, /*open=*/false, *model.algorithm, options, session));
    return all;
  }
  if (ask.endpoint == Endpoint::chat) {
    const bool open = !ask.fields;
    all.push_back(job_requests({open ? chat_job(ask, options) : fields_job(ask, options)}, open,
                               *model.algorithm, options, session));
    return all;
  }
  if (!model.algorithm->wording().empty())
    throw ApiError(400,
                   str("decoder ", model.decoder,
                       " words its own questions, which a plain prompt leaves no place for; ask "
                       "/v1/chat/completions"),
                   "model");
  for (const auto& prompt : ask.prompts) {
    const auto* const text = std::get_if<std::string>(&prompt);
    Tokens ids = text ? session.tokenizer()->encode_piece(*text, true) : std::get<Tokens>(prompt);
    if (ids.empty())
      throw ApiError(400, "the prompt is empty, expected at least one token", "prompt");
    all.push_back(token_requests({std::move(ids)}, session.checkpoint.model.config(), options));
    all.back().requests.front().thinking = session.thinking;
  }
  return all;
}

}  // namespace

Sampling default_sampling(const std::filesystem::path& folder, bool left_out) {
  const std::filesystem::path file = folder / "generation_config.json";
  const OrderedJson json = left_out ? OrderedJson::object() : read_object_if_there(file);
  const auto number = [&](const char* key, double fallback) {
    const OrderedJson value = value_or_null(json, key);
    if (value.is_null()) return fallback;
    if (!value.is_number())
      throw ConfigError(
          str(file.string(), ": '", key, "' is ", dump(value), ", expected a number"));
    return value.get<double>();
  };
  return {.temperature = number("temperature", 1),
          .top_k = static_cast<int>(std::clamp(number("top_k", 0), 0.0, 1e9)),
          .top_p = number("top_p", 1)};
}

DecodeOptions options_of(const Ask& ask, DecodeOptions server, const Sampling& sampling,
                         std::uint64_t random) {
  constexpr int kUsualCompletion = 16;  // the default of OpenAI's service
  if (ask.endpoint == Endpoint::completions) server.max_new_tokens = kUsualCompletion;
  server.max_new_tokens = std::max(1, ask.max_tokens.value_or(server.max_new_tokens));
  if (ask.max_tokens)
    server.per_field =
        std::min(server.max_new_tokens, server.per_field.value_or(Limits{}.per_field));
  server.temperature = ask.temperature.value_or(sampling.temperature);
  server.top_p = ask.top_p.value_or(sampling.top_p);
  server.top_k = ask.top_k.value_or(sampling.top_k);
  server.seed = ask.seed.value_or(random);
  server.ignore_eos = ask.ignore_eos;
  server.prompt_file.clear();
  try {
    server.sampling();
  } catch (const ConfigError& error) {
    throw ApiError(400, error.what());
  }
  return server;
}

std::vector<Prepared> prepare(const Ask& ask, const ServedModel& model,
                              const DecodeOptions& options, const Session& session) {
  const char* const param = ask.job                          ? "pardec"
                            : ask.endpoint == Endpoint::chat ? "messages"
                                                             : "prompt";
  check_fits(ask, model);
  try {
    if (!ask.options.empty()) model.algorithm->check(session.context);
    std::vector<Prepared> all;
    for (GivenRequests& given : given_requests(ask, model, options, session)) {
      const Request& request = given.requests.front();
      const std::int64_t tokens = prompt_tokens(request.pieces);
      const int positions = session.checkpoint.model.config().positions();
      if (model.algorithm->positions_needed(request) > positions)
        throw ApiError(400,
                       str("This model's maximum context length is ", positions,
                           " tokens, and the prompt has ", tokens, "; expected a shorter prompt"),
                       param, "context_length_exceeded");
      const CacheBudget& cache = session.engine.cache_budget();
      if (const std::int64_t rows = cache.blocks * cache.block_rows; rows > 0 && tokens >= rows)
        throw ApiError(400,
                       str("This model's maximum context length is ", rows,
                           " tokens under the server's memory limit, and the prompt has ", tokens,
                           "; expected a shorter prompt"),
                       param, "context_length_exceeded");
      std::string text;
      if (ask.echo) text = text_of(ask.prompts.at(all.size()), *session.tokenizer());
      const std::int64_t rows = tokens + answer_rows(request);
      all.push_back(
          {std::make_shared<GivenRequests>(std::move(given)), tokens, rows, std::move(text)});
    }
    return all;
  } catch (const Error& error) {
    throw ApiError(400, error.what(), param);
  }
}

}  // namespace pardec::serve
