#include "src/prompt/chat_template.hpp"

#include <array>
#include <map>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/gguf.hpp"
#include "src/support/mapped_file.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/tokens_beside.hpp"

namespace pardec {

namespace {

struct BuiltIn {
  std::string_view name, text;
};
/// None of these writes the beginning-of-sequence token; the tokenizer adds it.
constexpr std::array kBuiltIns{
    BuiltIn{"plain",
            R"({% for turn in messages %}
{{ turn.content }}{{ '\n' if turn.role == 'user' else '\n\n' }}
{%- endfor %})"},
    BuiltIn{"bare",
            R"({% for turn in messages %}
{{ turn.content }}{{ '' if loop.last else '\n\n' }}
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

/// The content of a file; nothing if there is no such file.
std::optional<std::string> text_of(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_file(file);
}

/// A template's source, and its name in errors.
struct Source {
  std::string text, where;
};
using Sources = std::map<std::string, Source>;  ///< by name; a single template is "default"

constexpr std::string_view kDefault = "default", kOwn = "checkpoint";

/// Reads `chat_template` of a JSON file: one text, or several by name in a list or an object.
Sources configured_templates(const OrderedJson& json, const std::string& file) {
  Sources all;
  if (!json.contains("chat_template") || json.at("chat_template").is_null()) return all;
  const OrderedJson& given = json.at("chat_template");
  const std::string where = file + ", chat_template";
  const auto add = [&](const OrderedJson& name, const OrderedJson& text) {
    if (!name.is_string() || !text.is_string())
      throw ConfigError(str(file, ": 'chat_template' has ", dump(name), " with ", text.type_name(),
                            ", expected names and texts"));
    all[name.get<std::string>()] = {text.get<std::string>(), where};
  };
  if (given.is_string()) {
    add(kDefault, given);
  } else if (given.is_object()) {
    for (const auto& [name, text] : given.items()) add(name, text);
  } else if (given.is_array()) {
    for (const OrderedJson& one : given)
      add(one.is_object() ? one.value("name", OrderedJson()) : OrderedJson(),
          one.is_object() ? one.value("template", OrderedJson()) : OrderedJson());
  } else {
    throw ConfigError(str(file, ": 'chat_template' is ", given.type_name(),
                          ", expected a text, or several by name"));
  }
  return all;
}

/// The templates of a GGUF file: the default one, and others that a list names.
Sources gguf_templates(const std::filesystem::path& file) {
  const MappedFile mapping(file);
  const Gguf gguf(mapping.bytes(), file.string());
  constexpr const char* kKey = "tokenizer.chat_template";
  Sources all;
  const auto add = [&](const std::string& name, const std::string& key) {
    if (const auto text = gguf.text(key))
      all[name] = {std::string(*text), str(file.string(), ", ", key)};
  };
  add(std::string(kDefault), kKey);
  for (const std::string_view name : gguf.texts("tokenizer.chat_templates"))
    add(std::string(name), str(kKey, ".", name));
  return all;
}

/// All templates of a folder, from transformers' places and with its precedence: separate files,
/// then tokenizer_config.json, then the older chat_template.json. Those of a GGUF file are its own.
Sources templates_of(const std::filesystem::path& folder) {
  if (const auto file = gguf_file(folder)) return gguf_templates(*file);
  Sources all;
  const auto add = [&](const std::string& name, const std::filesystem::path& file) {
    if (auto text = text_of(file)) all[name] = {*std::move(text), file.string()};
  };
  add(std::string(kDefault), folder / "chat_template.jinja");
  std::error_code ignored;
  const std::filesystem::path others = folder / kMoreChatTemplates;
  if (std::filesystem::is_directory(others, ignored))
    for (const auto& entry : std::filesystem::directory_iterator(others, ignored))
      if (entry.path().extension() == ".jinja") add(entry.path().stem().string(), entry.path());
  for (const char* file : {kTokenizerConfig, "chat_template.json"})
    if (all.empty())
      all = configured_templates(read_object_if_there(folder / file), (folder / file).string());
  return all;
}

std::string names_of(const Sources& all) {
  std::vector<std::string> names;
  for (const auto& [name, source] : all) names.push_back(str(kOwn, ":", name));
  return join(names, ", ");
}

/// "rag" for "checkpoint:rag"; nothing for other names.
std::optional<std::string> own_name(std::string_view name) {
  const std::string prefix = str(kOwn, ":");
  if (!name.starts_with(prefix)) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

std::pair<std::string, OrderedJson> parse_setting(const std::string& setting) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(
        str("`chat_set` is '", setting, "', expected KEY=VALUE, e.g. enable_thinking=false"));
  const std::string value = setting.substr(equals + 1);
  if (too_deep(value) != std::string::npos)
    throw ConfigError(str("`chat_set`: '", setting.substr(0, equals), "' is nested deeper than ",
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
                                               const std::string& name,
                                               const OrderedJson& variables) {
  const Sources all = templates_of(folder);
  if (all.empty()) return std::nullopt;
  const auto found = all.find(name.empty() ? std::string(kDefault) : name);
  if (found == all.end())
    throw ConfigError(str(folder.string(), ": has no chat template ",
                          name.empty() ? "that is the default" : "'" + name + "'",
                          "; `chat_template` takes ", names_of(all), ", or a built-in one"));
  OrderedJson given = {{"tools", nullptr}, {"documents", nullptr}};
  for (const auto& [key, text] : read_tokens_beside(folder).named) given[key] = text;
  given.update(variables);
  return ChatTemplate(name.empty() ? std::string(kOwn) : str(kOwn, ":", name), found->second.text,
                      found->second.where, std::move(given), true);
}

void check_chat_template(const std::string& name, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) parse_setting(setting);
  if (name == "auto" || own_name(name)) return;
  find_chat_template(name);
  if (!settings.empty())
    throw ConfigError(str("`chat_set` is '", settings.front(),
                          "', which is for a checkpoint's own ",
                          "template, but `chat_template` is '", name, "'; expected auto"));
}

ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings) {
  check_chat_template(name, settings);
  const std::optional<std::string> own = own_name(name);
  if (name != "auto" && !own) return find_chat_template(name);
  OrderedJson variables = OrderedJson::object();
  for (const std::string& setting : settings) {
    auto [key, value] = parse_setting(setting);
    variables[key] = std::move(value);
  }
  if (auto chosen = read_chat_template(folder, own.value_or(""), variables))
    return *std::move(chosen);
  if (own)
    throw ConfigError(str("`chat_template` is '", name, "', but ", folder.string(),
                          " has no chat template of its own"));
  if (!settings.empty())
    throw ConfigError(str("`chat_set` is '", settings.front(), "', but ", folder.string(),
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

/// The text before and after `mark`, which a rendering must contain exactly once.
std::pair<std::string, std::string> split_at(const std::string& text, std::string_view mark,
                                             const std::string& name) {
  const size_t at = text.find(mark);
  if (at == std::string::npos || text.find(mark, at + 1) != std::string::npos)
    throw ConfigError(str("chat template ", name, ": shows a turn's words ",
                          at == std::string::npos ? "never" : "more than once",
                          ", expected once; `chat_template=NAME` takes a built-in one"));
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
  const std::string opened = open_turn(messages).before;
  add_turn(messages, std::string(kWords));
  const auto [before, behind] = split_at(render(messages, true), kAnswer, name_);
  if (!before.starts_with(opened))
    throw ConfigError(str("chat template ", name_,
                          ": writes a turn differently when another one follows it (perhaps its "
                          "system message moves to the last turn), expected earlier turns to stay "
                          "the same; `chat_template=NAME` takes a built-in ",
                          "one"));
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
    throw ConfigError(str("chat template ", name_,
                          ": writes earlier turns differently for the words '", words,
                          "', expected them to stay the same"));
  return all.substr(said.size());
}

}  // namespace pardec
