#include "src/serve/ask.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "src/serve/api_error.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

namespace {

constexpr int kMostTokens = std::numeric_limits<int>::max();

[[noreturn]] void wrong(const std::string& param, const std::string& what) {
  throw ApiError(400, what, param);
}

/// A value for a message: the start of its JSON.
std::string shown(const Json& value) {
  constexpr std::size_t kMost = 80;
  if (value.is_structured()) return str("a JSON ", value.type_name());
  const std::string text = dump(value);
  return text.size() <= kMost ? text : repair_utf8(text.substr(0, kMost)) + "...";
}

[[noreturn]] void unexpected(const std::string& param, const Json& value,
                             std::string_view expected) {
  wrong(param, str("'", param, "' is ", shown(value), ", expected ", expected));
}

/// A field that other services support and this server does not, and the values of the field that
/// request nothing.
struct Neutral {
  const char* name;
  std::vector<Json> values;
};

const std::vector<Neutral>& neutral_fields() {
  static const std::vector<Neutral> kFields{
      {"best_of", {1}},
      {"presence_penalty", {0}},
      {"frequency_penalty", {0}},
      {"repetition_penalty", {1}},
      {"length_penalty", {1}},
      {"min_p", {0}},
      {"logit_bias", {Json::object()}},
      {"suffix", {""}},
      {"use_beam_search", {false}},
      {"stop_token_ids", {Json::array()}},
      {"include_stop_str_in_output", {false}},
      {"skip_special_tokens", {true}},
      {"spaces_between_special_tokens", {true}},
      {"add_special_tokens", {true}},
      {"add_generation_prompt", {true}},
      {"continue_final_message", {false}},
      {"chat_template", {}},
      {"chat_template_kwargs", {Json::object()}},
      {"guided_json", {}},
      {"guided_regex", {}},
      {"guided_choice", {}},
      {"guided_grammar", {}},
      {"structured_outputs", {}},
      {"tools", {Json::array()}},
      {"tool_choice", {"none", "auto"}},
      {"functions", {Json::array()}},
      {"function_call", {"none", "auto"}},
      {"modalities", {Json::array({"text"})}},
      {"audio", {}},
      {"prediction", {}},
  };
  return kFields;
}

void check_neutral(BodyReader& read) {
  for (const Neutral& field : neutral_fields()) {
    const Json& value = read.any(field.name);
    if (value.is_null()) continue;
    if (std::find(field.values.begin(), field.values.end(), value) == field.values.end())
      wrong(field.name,
            str("'", field.name, "' is ", shown(value), ", which is not supported; expected ",
                field.values.empty() ? "no such field" : dump(field.values.front())));
  }
}

std::vector<std::variant<std::string, Tokens>> prompts_of(const Json& prompt) {
  constexpr std::string_view kExpected = "a text, a list of token ids, or a list of either";
  if (prompt.is_string()) return {prompt.get<std::string>()};
  if (!prompt.is_array() || prompt.empty()) unexpected("prompt", prompt, kExpected);
  if (prompt.front().is_number()) return {read_ids(prompt, "prompt")};
  std::vector<std::variant<std::string, Tokens>> prompts;
  for (const Json& one : prompt) {
    if (one.is_string())
      prompts.emplace_back(one.get<std::string>());
    else if (one.is_array())
      prompts.emplace_back(read_ids(one, "prompt"));
    else
      unexpected("prompt", one, kExpected);
  }
  return prompts;
}

/// The text of a message's content: a text, or a list of parts of type text.
std::string content_of(const Json& content, const std::string& where) {
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null()) return "";
  if (!content.is_array())
    wrong("messages",
          str(where, ".content is ", shown(content), ", expected a text or a list of parts"));
  std::string text;
  for (const Json& part : content) {
    if (!part.is_object() || part.value("type", Json()) != "text" ||
        !part.value("text", Json()).is_string())
      wrong("messages", str(where, ".content has a part that is no text, expected ",
                            R"({"type": "text", "text": "..."})"));
    text += part["text"].get<std::string>();
  }
  return text;
}

std::vector<std::string> stops_of(const Json& stop, const AskBounds& bounds) {
  if (stop.is_null()) return {};
  const Json list = stop.is_array() ? stop : Json::array({stop});
  if (std::ssize(list) > bounds.stops)
    wrong("stop", str("'stop' has ", list.size(), " texts, expected at most ", bounds.stops));
  std::vector<std::string> stops;
  for (const Json& one : list) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty() ||
        one.get_ref<const std::string&>().size() > bounds.stop_bytes)
      unexpected("stop", one, str("a text of 1 to ", bounds.stop_bytes, " bytes"));
    stops.push_back(one.get<std::string>());
  }
  return stops;
}

constexpr int kMostTop = 20;  // the limit of OpenAI's service

void read_scores(Ask& ask, BodyReader& read) {
  const bool chat = ask.endpoint == Endpoint::chat;
  ask.echo = read.flag("echo").value_or(false);
  if (ask.echo && chat) wrong("echo", "'echo' goes with a prompt only");
  if (const auto most = read.whole("prompt_logprobs", 0, kMostTop)) {
    if (read.flag("stream").value_or(false))
      wrong("prompt_logprobs", "'prompt_logprobs' goes with no 'stream'");
    ask.prompt_logprobs = static_cast<int>(*most);
  }
  const Json& asked = read.any("logprobs");
  const auto top = read.whole("top_logprobs", 0, kMostTop);
  if (asked.is_boolean() ? !asked.get<bool>() : asked.is_null()) {
    if (top.value_or(0) > 0)
      wrong("top_logprobs", "'top_logprobs' goes with 'logprobs': true only");
    return;
  }
  if (chat && !asked.is_boolean()) unexpected("logprobs", asked, "true or false");
  if (asked.is_boolean())
    ask.logprobs = static_cast<int>(top.value_or(0));
  else
    ask.logprobs = static_cast<int>(*read.whole("logprobs", 0, kMostTop));
}

void read_stream_options(Ask& ask, const Json& options) {
  if (options.is_null()) return;
  if (!options.is_object()) unexpected("stream_options", options, "an object");
  if (!ask.stream) wrong("stream_options", "'stream_options' goes with 'stream': true only");
  BodyReader read(options);
  ask.include_usage = read.flag("include_usage").value_or(false);
  ask.continuous_usage = read.flag("continuous_usage_stats").value_or(false);
}

void read_own_fields(Ask& ask, const Json& own) {
  if (own.is_null()) return;
  if (!own.is_object()) unexpected("pardec", own, "an object {decoder, options, job, events}");
  BodyReader read(own);
  ask.decoder = read.text("decoder").value_or("");
  if (const Json& options = read.any("options"); !options.is_null()) {
    if (!options.is_object()) unexpected("pardec.options", options, "an object option: value");
    ask.options = options;
  }
  if (const Json& job = read.any("job"); !job.is_null()) {
    if (!job.is_object()) unexpected("pardec.job", job, "a Job");
    ask.job = job;
  }
  ask.events = read.flag("events").value_or(false);
  for (const std::string& name : read.unknown())
    wrong("pardec", str("'pardec' has no member '", repair_utf8(name).substr(0, 80),
                        "', expected decoder, options, job and events"));
}

/// Refuses settings that a Job cannot hold, and settings that the Job itself contains.
void check_job(const Ask& ask, BodyReader& read) {
  const auto refuse = [](const char* param, const std::string& what) {
    wrong(param, str("'", param, "' ", what));
  };
  if (ask.endpoint != Endpoint::chat) wrong("pardec", "'pardec.job' goes with chat only");
  if (const Json& messages = read.any("messages"); !messages.is_null() && messages != Json::array())
    refuse("messages", "does not go with 'pardec.job', which has the prompt; expected []");
  for (const char* param : {"response_format", "logprobs"})
    if (!read.any(param).is_null() && read.any(param) != false)
      refuse(param, "does not go with 'pardec.job'");
  const auto both = [&](bool asked, const char* param, const char* own) {
    if (asked && ask.job->contains(own))
      refuse(param, str("was sent, and '", own, "' in 'pardec.job'; expected one of them"));
  };
  both(ask.seed.has_value(), "seed", "seed");
  both(ask.max_tokens.has_value(), "max_tokens", "limits");
  both(ask.temperature || ask.top_p || ask.top_k, "temperature", "sampling");
}

}  // namespace

Tokens read_ids(const Json& list, const std::string& param) {
  if (!list.is_array()) unexpected(param, list, "a list of token ids");
  Tokens ids;
  for (const Json& id : list) {
    if (!id.is_number_integer() || id < 0 || id > std::numeric_limits<Token>::max())
      unexpected(param, id, "a token id");
    ids.push_back(id.get<Token>());
  }
  return ids;
}

std::vector<ChatMessage> read_messages(const Json& given) {
  if (!given.is_array() || given.empty())
    unexpected("messages", given, "a list of messages, at least one");
  std::vector<ChatMessage> messages;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string where = str("messages[", i, "]");
    if (!given[i].is_object())
      wrong("messages", str(where, " is ", shown(given[i]), ", expected {role, content}"));
    const Json role = given[i].value("role", Json());
    if (role != "system" && role != "developer" && role != "user" && role != "assistant")
      wrong("messages", str(where, ".role is ", shown(role),
                            ", expected system, developer, user or assistant"));
    messages.push_back({role == "developer" ? "system" : role.get<std::string>(),
                        content_of(given[i].value("content", Json()), where)});
  }
  return messages;
}

const Json& BodyReader::any(const char* key) {
  static const Json kNone;
  known_.emplace_back(key);
  const auto found = body_.find(key);
  return found == body_.end() ? kNone : *found;
}

std::optional<std::string> BodyReader::text(const char* key) {
  const Json& value = any(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_string()) unexpected(key, value, "a text");
  return value.get<std::string>();
}

std::optional<bool> BodyReader::flag(const char* key) {
  const Json& value = any(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_boolean()) unexpected(key, value, "true or false");
  return value.get<bool>();
}

std::optional<double> BodyReader::number(const char* key, double least, double most) {
  const Json& value = any(key);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
    unexpected(key, value, str("a number from ", least, " to ", most));
  return value.get<double>();
}

std::optional<std::int64_t> BodyReader::whole(const char* key, std::int64_t least,
                                              std::int64_t most) {
  const Json& value = any(key);
  if (value.is_null()) return std::nullopt;
  const bool huge = value.is_number_unsigned() &&
                    value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() || huge || value < least || value > most)
    unexpected(key, value, str("a whole number from ", least, " to ", most));
  return value.get<std::int64_t>();
}

std::vector<std::string> BodyReader::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : body_.items())
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) names.push_back(name);
  return names;
}

Json parse_body(std::string_view body) {
  Json json;
  try {
    json = parse_json(body, "body", 1);
  } catch (const Error& error) {
    throw ApiError(400, error.what());
  }
  if (!json.is_object())
    throw ApiError(400, str("the body is a JSON ", json.type_name(), ", expected an object"));
  return json;
}

Ask parse_ask(std::string_view body, Endpoint endpoint, const AskBounds& bounds) {
  const Json json = parse_body(body);
  BodyReader read(json);
  Ask ask;
  ask.endpoint = endpoint;
  ask.model = read.text("model").value_or("");
  read_own_fields(ask, read.any("pardec"));
  if (endpoint == Endpoint::completions)
    ask.prompts = prompts_of(read.any("prompt"));
  else if (!ask.job)
    ask.messages = read_messages(read.any("messages"));
  ask.n = static_cast<int>(read.whole("n", 1, bounds.choices).value_or(1));
  if (const auto choices = std::max<std::int64_t>(1, std::ssize(ask.prompts)) * ask.n;
      choices > bounds.choices)
    wrong("n", str("prompts times n is ", choices, ", expected at most ", bounds.choices));
  read_scores(ask, read);
  const auto most = read.whole("max_tokens", ask.echo ? 0 : 1, kMostTokens);
  const auto newer = read.whole("max_completion_tokens", 1, kMostTokens);
  if (most || newer) ask.max_tokens = static_cast<int>(newer ? *newer : *most);
  if (const auto top_k = read.whole("top_k", -1, kMostTokens))
    ask.top_k = static_cast<int>(std::max<std::int64_t>(0, *top_k));
  ask.temperature = read.number("temperature", 0, 100);
  ask.top_p = read.number("top_p", 0, 1);
  if (ask.top_p == 0.0) unexpected("top_p", 0, "a number above 0, at most 1");
  if (const auto seed = read.whole("seed", std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()))
    ask.seed = static_cast<std::uint64_t>(*seed);
  if (!read.any("response_format").is_null()) {
    const OrderedJson ordered = OrderedJson::parse(body);  // the order of properties counts
    ask.fields = response_fields(ordered["response_format"]);
    if (ask.fields && endpoint == Endpoint::completions)
      wrong("response_format", "'response_format' goes with messages only");
  }
  ask.stops = stops_of(read.any("stop"), bounds);
  ask.min_tokens = static_cast<int>(read.whole("min_tokens", 0, kMostTokens).value_or(0));
  if (ask.min_tokens > 0 && !ask.stops.empty())
    wrong("min_tokens", "'min_tokens' does not go with 'stop'");
  if (ask.max_tokens && ask.min_tokens > *ask.max_tokens)
    wrong("min_tokens", str("'min_tokens' is ", ask.min_tokens, ", expected at most max_tokens (",
                            *ask.max_tokens, ")"));
  ask.ignore_eos = read.flag("ignore_eos").value_or(false);
  ask.stream = read.flag("stream").value_or(false);
  read_stream_options(ask, read.any("stream_options"));
  if (ask.events && !ask.stream) wrong("pardec", "'pardec.events' goes with 'stream': true only");
  ask.return_token_ids = read.flag("return_token_ids").value_or(false);
  if (ask.job) check_job(ask, read);
  check_neutral(read);
  ask.ignored = read.unknown();
  return ask;
}

}  // namespace pardec::serve
