#include <algorithm>
#include <array>
#include <cmath>

#include "src/chat/adapter.hpp"
#include "src/chat/key.hpp"
#include "src/chat/service.hpp"
#include "src/http/client.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

namespace {

constexpr int kHowItIsAsked = 2;  // to be raised when requests change in a way that affects replies

constexpr std::array<std::pair<std::string_view, Interface>, 3> kInterfaces = {
    {{"openai-chat", Interface::kOpenAiChat},
     {"anthropic-messages", Interface::kAnthropicMessages},
     {"openai-responses", Interface::kOpenAiResponses}}};
constexpr std::array<std::pair<std::string_view, Interface>, 2> kStreamed = {
    {{"completions, streamed", Interface::kStreamedCompletions},
     {"chat/completions, streamed", Interface::kStreamedChat}}};
constexpr std::array<std::pair<std::string_view, Format>, 4> kFormats = {
    {{"json_schema", Format::kJsonSchema},
     {"json_object+schema", Format::kSchemaInObject},
     {"json_object", Format::kJsonObject},
     {"text", Format::kText}}};
constexpr std::array<std::string_view, 10> kOurs = {"model",
                                                    "messages",
                                                    "input",
                                                    "system",
                                                    "stream",
                                                    "n",
                                                    "response_format",
                                                    "max_tokens",
                                                    "max_completion_tokens",
                                                    "max_output_tokens"};

/// Names commonly used for keys, in lower case, without '-' and '_'. They also match the end of
/// longer names.
constexpr std::array<std::string_view, 8> kSecrets = {"apikey",    "authorization",  "accesstoken",
                                                      "authtoken", "bearer",         "password",
                                                      "secret",    "subscriptionkey"};

template <typename Value, std::size_t count>
Value value_of(const std::array<std::pair<std::string_view, Value>, count>& table,
               const std::string& name, std::string_view key) {
  std::vector<std::string> names;
  for (const auto& [known, value] : table) {
    if (known == name) return value;
    names.emplace_back(known);
  }
  throw ConfigError(str("'", key, "': unknown '", name, "'", known_names(name, names)));
}

template <typename Value, std::size_t count>
std::string name_in(const std::array<std::pair<std::string_view, Value>, count>& table,
                    Value value) {
  for (const auto& [name, known] : table)
    if (known == value) return std::string(name);
  return "";
}

/// Lines of all keys of a JSON text that was already parsed, by pointer.
class KeyLines {
 public:
  explicit KeyLines(std::string_view text) : text_(text) { value(""); }
  long line(const std::string& pointer) const {
    const auto found = lines_.find(pointer);
    return found == lines_.end() ? 1 : found->second;
  }
  const std::map<std::string, long>& all() const { return lines_; }

 private:
  void skip_space() {
    for (; at_ < text_.size() &&
           std::string_view(" \t\r\n\xEF\xBB\xBF").find(text_[at_]) != std::string_view::npos;
         ++at_)
      line_ += text_[at_] == '\n';
  }
  std::string string() {
    const std::size_t begin = at_++;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    return Json::parse(text_.substr(begin, ++at_ - begin)).get<std::string>();
  }
  void value(const std::string& pointer) {
    skip_space();
    lines_.emplace(pointer, line_);
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '"') {
      string();
    } else if (first == '{' || first == '[') {
      ++at_;
      for (std::size_t index = 0;; ++index) {
        skip_space();
        if (text_[at_] == '}' || text_[at_] == ']') break;
        std::string key = std::to_string(index);
        const long line = line_;
        if (first == '{') {
          key = replace_all(replace_all(string(), "~", "~0"), "/", "~1");
          lines_.emplace(str(pointer, "/", key), line);
          skip_space();
          ++at_;  // the colon
        }
        value(str(pointer, "/", key));
        skip_space();
        if (text_[at_] == ',') ++at_;
      }
      ++at_;
    } else {
      while (at_ < text_.size() &&
             std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos)
        ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  long line_ = 1;
  std::map<std::string, long> lines_;
};

/// Reads the keys of an object; errors include the line of the file.
class Reader {
 public:
  Reader(const Json& object, const std::string& file, const KeyLines& lines, std::string pointer)
      : file_(file),
        lines_(lines),
        pointer_(std::move(pointer)),
        reader_([&] { return located("", [&] { return JsonReader(object, "the service"); }); }()) {}

  /// Runs `body`, and adds the key's line to its errors.
  template <typename Body>
  auto located(const std::string& key, Body body) const -> decltype(body()) try {
    return body();
  } catch (const ConfigError& error) {
    throw ConfigError(str(file_, ":", lines_.line(key.empty() ? pointer_ : str(pointer_, "/", key)),
                          ": ", error.what()));
  }
  template <typename Value>
  Value get(const std::string& key, Value fallback) {
    return located(key, [&] { return reader_.optional<Value>(key, std::move(fallback)); });
  }
  template <typename Value>
  Value required(const std::string& key) {
    return located(key, [&] { return reader_.required<Value>(key); });
  }
  double number(const std::string& key, double fallback, double least, double most) {
    return located(key, [&] {
      const double value = reader_.optional<double>(key, fallback);
      if (!(value >= least && value <= most))
        throw ConfigError(str("'", key, "' is ", value, ", expected ", least, " to ", most));
      return value;
    });
  }
  const Json& any(const std::string& key) { return reader_.any(key); }
  Reader inner(const std::string& key, const Json& object) const {
    return {object, file_, lines_, str(pointer_, "/", key)};
  }
  void finish() const {
    located("", [&] { reader_.finish(); });
  }

 private:
  const std::string& file_;
  const KeyLines& lines_;
  std::string pointer_;
  JsonReader reader_;
};

}  // namespace

std::string checked_url(std::string url) {
  const auto bad = [&](std::string_view what) { return ConfigError(str("'base_url' ", what)); };
  const std::size_t scheme = url.find("://");
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    throw bad("must begin with https:// or http://");
  if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c > '~'; }))
    throw bad("holds white space or characters outside ASCII");
  const std::string_view host =
      std::string_view(url).substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  if (host.empty()) throw bad("names no host");
  if (host.find('@') != std::string_view::npos)
    throw bad("holds a password; keys belong in the environment, and 'key_env' names the variable");
  if (url.find_first_of("?#") != std::string::npos)
    throw bad("has a query or fragment; expected the part before /chat/completions or the like");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string checked_variable(const std::string& name) {
  const bool good = std::all_of(name.begin(), name.end(),
                                [](unsigned char c) { return std::isalnum(c) || c == '_'; }) &&
                    (name.empty() || !std::isdigit(static_cast<unsigned char>(name.front())));
  if (!good)
    throw ConfigError(
        "'key_env' is no name of an environment variable; the key itself must not be here");
  return name;
}

namespace {

bool names_a_key(const std::string& name) {
  std::string plain;
  for (const char byte : name)
    if (byte != '-' && byte != '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  return plain == "key" || plain == "token" || plain == "auth" ||
         std::any_of(kSecrets.begin(), kSecrets.end(),
                     [&](std::string_view secret) { return plain.ends_with(secret); });
}

ConfigError key_in_file(const std::string& where) {
  return ConfigError(str(where,
                         ", which looks like a key of the service; a key belongs only in an "
                         "environment variable, which 'key_env' names"));
}

/// Refuses a key among the parameters at any depth, without quoting it.
void check_no_key(const std::string& name, const Json& value) {
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) check_no_key(key, inner);
  if (value.is_array())
    for (const Json& inner : value) check_no_key(name, inner);
  // A number or a schema with such a name is not a key.
  if (value.is_string() &&
      (names_a_key(name) || value.get_ref<const std::string&>().starts_with("Bearer ")))
    throw key_in_file(str("'parameters' has '", name, "'"));
}

}  // namespace

ServiceSpec read_service(const std::filesystem::path& path, const std::string& pointer) {
  const std::string text = read_file(path);
  const Json whole = parse_json(text, path.string(), 0);
  if (const std::string key = repeated_key(text); !key.empty())
    throw ConfigError(str(path.string(), ": '", key, "' occurs twice in one object"));
  const KeyLines lines(text);
  const Json::json_pointer at(pointer);
  if (!whole.contains(at))
    throw ConfigError(str(path.string(), ": '", pointer.substr(1), "' is missing"));
  ServiceSpec spec;
  spec.file = path.string();
  Reader read(whole.at(at), spec.file, lines, pointer);

  const auto interface = read.required<std::string>("interface");
  spec.interface =
      read.located("interface", [&] { return value_of(kInterfaces, interface, "interface"); });
  const bool anthropic = spec.interface == Interface::kAnthropicMessages;
  const bool chat = spec.interface == Interface::kOpenAiChat;
  const auto url = read.required<std::string>("base_url");
  spec.base_url = read.located("base_url", [&] { return checked_url(url); });
  spec.model = read.required<std::string>("model");
  const auto variable = read.get<std::string>("key_env", "");
  spec.key_env = read.located("key_env", [&] { return checked_variable(variable); });
  spec.auth = read.get<std::string>("auth", anthropic ? "x-api-key" : "bearer");
  read.located("auth", [&] {
    if (spec.auth != "bearer" && spec.auth != "api-key" && spec.auth != "x-api-key")
      throw ConfigError(str("'auth' is '", spec.auth, "', expected bearer, api-key (Azure) or ",
                            "x-api-key (Anthropic)"));
  });
  if (anthropic) spec.version = read.get<std::string>("version", "2023-06-01");
  if (chat) spec.token_limit = read.get<std::string>("token_limit", "max_completion_tokens");
  read.located("token_limit", [&] {
    if (chat && spec.token_limit != "max_completion_tokens" && spec.token_limit != "max_tokens")
      throw ConfigError(str("'token_limit' is '", spec.token_limit,
                            "', expected max_completion_tokens, or max_tokens for old servers"));
  });

  if (const Json& parameters = read.any("parameters"); !parameters.is_null()) {
    spec.parameters = parameters;
    read.inner("parameters", parameters);
    for (const auto& [key, value] : parameters.items())
      read.located(str("parameters/", key), [&, &name = key] {
        if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end())
          throw ConfigError(str("'parameters' has '", name, "', which pardec itself sets"));
        check_no_key(name, parameters.at(name));
      });
  }
  if (const Json& prices = read.any("prices"); !prices.is_null()) {
    constexpr double kMost = 1e6;
    Reader inner = read.inner("prices", prices);
    Prices told;
    told.input = inner.number("input", 0, 0, kMost);
    told.cached_input = inner.number("cached_input", told.input, 0, kMost);
    told.output = inner.number("output", 0, 0, kMost);
    inner.finish();
    for (const char* needed : {"input", "output"})
      if (!prices.contains(needed))
        read.located("prices", [&] {
          throw ConfigError(str("'prices' has no '", needed, "': money for a million tokens"));
        });
    spec.prices = told;
  }
  if (const Json& deadlines = read.any("deadlines"); !deadlines.is_null()) {
    constexpr double kLeast = 0.01, kMost = 86400;
    Reader inner = read.inner("deadlines", deadlines);
    for (const auto& [key, value] : {std::pair{"connect", &spec.deadlines.connect},
                                     {"first_byte", &spec.deadlines.first_byte},
                                     {"stalled", &spec.deadlines.stalled},
                                     {"total", &spec.deadlines.total}})
      *value = inner.number(key, *value, kLeast, kMost);
    inner.finish();
  }
  spec.concurrency = static_cast<int>(read.number("concurrency", spec.concurrency, 1, 512));
  spec.retries = static_cast<int>(read.number("retries", spec.retries, 0, 50));
  spec.body_cap = static_cast<std::int64_t>(
      read.number("body_cap", static_cast<double>(spec.body_cap), 1024, 1 << 30));
  const auto formats =
      read.get<std::vector<std::string>>("formats", std::vector<std::string>{"json_schema"});
  read.located("formats", [&] {
    spec.formats.clear();
    for (const std::string& name : formats)
      spec.formats.push_back(value_of(kFormats, name, "formats"));
    if (spec.formats.empty() || !std::is_sorted(spec.formats.begin(), spec.formats.end()) ||
        std::adjacent_find(spec.formats.begin(), spec.formats.end()) != spec.formats.end())
      throw ConfigError(
          "'formats' must hold some of json_schema, json_object+schema, json_object, text in this "
          "order");
    for (const Format format : spec.formats)
      if ((format == Format::kJsonObject && anthropic) ||
          (format == Format::kSchemaInObject && !chat))
        throw ConfigError(
            str("'formats' has ", name_of(format), ", which ", interface, " does not know"));
  });
  for (const auto& [key, value] : whole.at(at).items())
    if (key != "auth" && names_a_key(key))
      read.located(key, [&, &name = key] { throw key_in_file(str("there is a '", name, "'")); });
  read.finish();
  for (const auto& [key, line] : lines.all())
    if (key.starts_with(pointer + "/"))
      spec.lines.emplace(replace_all(key.substr(pointer.size() + 1), "/", "."), line);
  return spec;
}

void check_key(const ServiceSpec& spec) { Key key(spec.key_env); }

Json identity(const ServiceSpec& spec) {
  Json formats = Json::array();
  for (const Format format : spec.formats) formats.push_back(name_in(kFormats, format));
  return {{"asked", kHowItIsAsked},
          {"interface", name_in(kInterfaces, spec.interface) + name_in(kStreamed, spec.interface)},
          {"base_url", spec.base_url},
          {"model", spec.model},
          {"version", spec.version},
          {"token_limit", spec.token_limit},
          {"parameters", spec.parameters},
          {"formats", formats}};
}

std::string name_of(Format format) { return name_in(kFormats, format); }

std::string clear_text_warning(const ServiceSpec& spec) {
  if (!spec.base_url.starts_with("http://") || is_loopback(spec.base_url)) return "";
  return str(spec.file, ": 'base_url' is ", spec.base_url, ": ",
             spec.key_env.empty() ? "" : "the key and ", "all texts are sent in clear, and can be ",
             "read on the way; expected https://");
}

WorstCase worst_case(const ServiceSpec& spec, const Call& call) {
  constexpr std::int64_t kMarkup = 32;  // maximum tokens of a template around a message
  std::int64_t prompt = kMarkup;
  for (const Message& message : call.messages)
    prompt += static_cast<std::int64_t>(message.text.size()) + kMarkup;
  if (!call.schema.is_null()) prompt += static_cast<std::int64_t>(dump(call.schema).size());
  if (const auto asked = call.parameters.find("prompt"); asked != call.parameters.end())
    prompt += static_cast<std::int64_t>(
        asked->is_string() ? asked->get_ref<const std::string&>().size() : asked->size());
  const Prices prices = spec.prices.value_or(Prices{});
  return {prompt + call.max_tokens,
          (static_cast<double>(prompt) * std::max(prices.input, prices.cached_input) +
           static_cast<double>(call.max_tokens) * prices.output) /
              1e6};
}

}  // namespace pardec::chat
