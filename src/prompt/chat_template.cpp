#include "src/prompt/chat_template.hpp"

#include <array>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct BuiltIn {
  std::string_view name, text;
};
/// The beginning-of-sequence token is left to the tokenizer in all of them.
constexpr std::array kBuiltIns{
    BuiltIn{"plain",
            R"({% for turn in messages %}
{{ turn.content }}{{ '\n' if turn.role == 'user' else '\n\n' }}
{%- endfor %})"},
    BuiltIn{"chatml",
            R"({% for turn in messages %}
{{ '<|im_start|>' + turn.role + '\n' + turn.content + '<|im_end|>\n' }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %})"},
    BuiltIn{"llama-2",
            R"({% set rules = namespace(text='') %}
{% for turn in messages %}
{% if turn.role == 'system' %}
{% set rules.text = '<<SYS>>\n' + turn.content + '\n<</SYS>>\n\n' %}
{% elif turn.role == 'user' %}
{{ '[INST] ' + rules.text + turn.content + ' [/INST]' }}
{%- set rules.text = '' %}
{% else %}
{{ ' ' + turn.content + ' </s><s>' }}
{%- endif %}
{% endfor %})"},
    BuiltIn{
        "llama-3",
        R"({% macro header(role) %}{{ '<|start_header_id|>' + role + '<|end_header_id|>\n\n' }}{% endmacro %}
{% for turn in messages %}
{{ header(turn.role) + turn.content + '<|eot_id|>' }}
{%- endfor %}
{% if add_generation_prompt %}{{ header('assistant') }}{% endif %})"},
    BuiltIn{"phi-4",
            R"({% for turn in messages %}
{{ '<|im_start|>' + turn.role + '<|im_sep|>' + turn.content + '<|im_end|>' }}
{%- endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %})"},
    BuiltIn{"vicuna",
            R"({% if messages[0].role != 'system' %}
A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, and polite answers to the user's questions.{% endif %}
{% for turn in messages %}
{% if turn.role == 'system' %}
{{ turn.content }}
{%- elif turn.role == 'user' %}
{{ ' ' if loop.first or loop.previtem.role == 'system' }}USER: {{ turn.content }} ASSISTANT:
{%- else %}
{{ ' ' + turn.content + '</s>' }}
{%- endif %}
{% endfor %})"},
};

/// 26 July 2024, a Friday.
std::tm fixed_date() {
  std::tm date{};
  date.tm_year = 124;
  date.tm_mon = 6;
  date.tm_mday = 26;
  date.tm_wday = 5;
  date.tm_yday = 207;
  return date;
}

/// The text of a file, or nothing where there is no such file.
std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_file(file);
}

OrderedJson object_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return OrderedJson::object();
  OrderedJson json = read_ordered_json(file);
  if (!json.is_object())
    throw ConfigError(str(file.string(), ": is ", json.type_name(), ", expected an object"));
  return json;
}

/// `bos_token` and its like: a text, or an object that has it as `content`.
void add_special_tokens(const OrderedJson& from, OrderedJson& variables) {
  for (const auto& [key, value] : from.items()) {
    if (!key.ends_with("_token")) continue;
    const OrderedJson& text =
        value.is_object() && value.contains("content") ? value.at("content") : value;
    if (text.is_string()) variables[key] = text;
  }
}

/// The text of `chat_template` in tokenizer_config.json; empty: there is none.
std::optional<std::string> configured_template(const OrderedJson& config, const std::string& file) {
  if (!config.contains("chat_template") || config.at("chat_template").is_null())
    return std::nullopt;
  const OrderedJson& given = config.at("chat_template");
  if (given.is_string()) return given.get<std::string>();
  std::vector<std::string> names;
  const auto text_at = [](const OrderedJson& object, const char* key) {
    return object.is_object() && object.contains(key) && object.at(key).is_string()
               ? object.at(key).get<std::string>()
               : std::string();
  };
  if (given.is_array())
    for (const OrderedJson& one : given) {
      names.push_back(text_at(one, "name"));
      if (names.back() == "default") return text_at(one, "template");
    }
  throw ConfigError(str(
      file, ": 'chat_template' ",
      names.empty() ? str("is ", given.type_name()) : str("has the templates ", join(names, ", ")),
      ", expected a text, or a list with one that is named 'default'; ",
      "--chat-template NAME takes a built-in one"));
}

std::pair<std::string, OrderedJson> parse_setting(const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(
        str("--chat-set is '", setting, "', expected KEY=VALUE, e.g. enable_thinking=false"));
  const std::string value = setting.substr(equals + 1);
  if (too_deep(value) != std::string::npos)
    throw ConfigError(str("--chat-set: '", setting.substr(0, equals), "' is nested deeper than ",
                          kDeepestJson, " levels"));
  OrderedJson json = OrderedJson::parse(value, nullptr, false);
  return {setting.substr(0, equals), json.is_discarded() ? OrderedJson(value) : std::move(json)};
}

}  // namespace

std::vector<std::string> chat_template_names() {
  std::vector<std::string> names;
  for (const BuiltIn& one : kBuiltIns) names.emplace_back(one.name);
  return names;
}

ChatTemplate find_chat_template(std::string_view name) {
  for (const BuiltIn& one : kBuiltIns)
    if (one.name == name)
      return ChatTemplate(std::string(name), std::string(one.text), str("chat template ", name),
                          OrderedJson::object(), false);
  throw ConfigError(
      str("unknown chat template '", name, "'", known_names(name, chat_template_names())));
}

std::optional<ChatTemplate> read_chat_template(const std::filesystem::path& folder,
                                               const OrderedJson& variables) {
  const std::filesystem::path file = folder / "chat_template.jinja",
                              config_file = folder / "tokenizer_config.json";
  const OrderedJson config = object_of(config_file);
  std::string where = file.string();
  std::optional<std::string> text = text_of(file);
  if (!text) {
    text = configured_template(config, config_file.string());
    where = config_file.string() + ", chat_template";
  }
  if (!text) return std::nullopt;
  OrderedJson given = {{"tools", nullptr}, {"documents", nullptr}};
  add_special_tokens(object_of(folder / "special_tokens_map.json"), given);
  add_special_tokens(config, given);
  given.update(variables);
  return ChatTemplate("checkpoint", *text, where, std::move(given), true);
}

void check_chat_template(const std::string& name, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) parse_setting(setting);
  if (name == "auto") return;
  find_chat_template(name);
  if (!settings.empty())
    throw ConfigError(str("--chat-set is '", settings.front(),
                          "', which is for a checkpoint's own ",
                          "template, but --chat-template is '", name, "'; expected auto"));
}

ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings) {
  check_chat_template(name, settings);
  if (name != "auto") return find_chat_template(name);
  OrderedJson variables = OrderedJson::object();
  for (const std::string& setting : settings) {
    auto [key, value] = parse_setting(setting);
    variables[key] = std::move(value);
  }
  if (auto own = read_chat_template(folder, variables)) return *std::move(own);
  if (!settings.empty())
    throw ConfigError(str("--chat-set is '", settings.front(), "', but ", folder.string(),
                          " has no chat template of its own"));
  return find_chat_template("plain");
}

std::string ChatTemplate::render(const std::vector<ChatMessage>& messages,
                                 bool add_generation_prompt) const {
  OrderedJson variables = variables_;
  variables["messages"] = OrderedJson::array();
  for (const ChatMessage& message : messages)
    variables["messages"].push_back({{"role", message.role}, {"content", message.content}});
  variables["add_generation_prompt"] = add_generation_prompt;
  return template_.render(variables, fixed_date());
}

namespace {

/// The texts around a mark, which a rendering must hold once.
std::pair<std::string, std::string> split_at(const std::string& text, std::string_view mark,
                                             const std::string& name) {
  const size_t at = text.find(mark);
  if (at == std::string::npos || text.find(mark, at + 1) != std::string::npos)
    throw ConfigError(str("chat template ", name, ": shows a turn's words ",
                          at == std::string::npos ? "never" : "more than once",
                          ", expected once; --chat-template NAME takes a built-in one"));
  return {text.substr(0, at), text.substr(at + mark.size())};
}

constexpr std::string_view kWords = "pardec-words", kAnswer = "pardec-answer";

void add_turn(std::vector<ChatMessage>& messages, const std::string& next_words) {
  messages.push_back({"user", "?"});
  messages.push_back({"assistant", std::string(kAnswer)});
  messages.push_back({"user", next_words});
}

}  // namespace

ChatTemplate::Turn ChatTemplate::open_turn(std::vector<ChatMessage> messages) const {
  messages.push_back({"user", std::string(kWords)});
  const auto [before, after] = split_at(render(messages, true), kWords, name_);
  return {before, after};
}

std::string ChatTemplate::between_turns(std::vector<ChatMessage> messages) const {
  add_turn(messages, std::string(kWords));
  const auto [before, behind] = split_at(render(messages, true), kAnswer, name_);
  return split_at(behind, kWords, name_).first;
}

std::string ChatTemplate::next_turn(std::vector<ChatMessage> messages,
                                    const std::string& words) const {
  std::vector<ChatMessage> open = messages;
  add_turn(open, "?");
  const std::string said =
      split_at(render(open, true), kAnswer, name_).first + std::string(kAnswer);
  add_turn(messages, words);
  const std::string all = render(messages, true);
  if (!all.starts_with(said))
    throw ConfigError(str("chat template ", name_, ": writes earlier turns otherwise for the ",
                          "words '", words, "', expected what was said to stay"));
  return all.substr(said.size());
}

}  // namespace pardec
