#include "src/prompt/json_answer.hpp"

#include <map>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

JsonSkeleton json_skeleton(const std::vector<Context>& contexts) {
  JsonSkeleton skeleton;
  for (size_t c = 0; c < contexts.size(); ++c) {
    const auto& fields = contexts[c].fields;
    bool same = fields.size() == contexts.front().fields.size();
    for (size_t f = 0; same && f < fields.size(); ++f)
      same = fields[f].name == contexts.front().fields[f].name;
    if (!same)
      throw ConfigError(str("context '", contexts[c].id, "' has other fields than '",
                            contexts.front().id, "'; a stack shares one field list"));
    for (size_t f = 0; f < fields.size(); ++f) {
      std::string before;
      if (f == 0) before = str(c == 0 ? "\n{" : "\n  },", "\n  \"", c + 1, "\": {");
      skeleton.segments.push_back(str(before, "\n    ", dump(Json(fields[f].name)), ":"));
    }
  }
  skeleton.tail = str("\n  }\n}\n", kAnswerClosing);
  return skeleton;
}

std::string json_value(const std::optional<std::string>& value, bool last) {
  return str(" ", dump(Json(value.value_or(std::string(kAbsent)))), last ? "" : ",");
}

std::string json_answer(const std::vector<Context>& contexts,
                        const std::vector<std::vector<std::optional<std::string>>>& values) {
  const JsonSkeleton skeleton = json_skeleton(contexts);
  std::string answer(kAnswerOpening);
  size_t segment = 0;
  for (const auto& of_context : values)
    for (size_t f = 0; f < of_context.size(); ++f)
      answer +=
          skeleton.segments.at(segment++) + json_value(of_context[f], f + 1 == of_context.size());
  return answer + skeleton.tail;
}

namespace {

bool is_word_for_absent(std::string_view stripped) {
  return stripped == kAbsent || stripped == "null";
}

std::optional<std::string> present(const std::string& text) {
  const std::string_view stripped = strip(text);
  if (stripped.empty() || is_word_for_absent(stripped)) return std::nullopt;
  return text;
}

/// Collects the values of one object as texts. Lists and objects become the texts in them, joined.
class ObjectReader final : public nlohmann::json_sax<Json> {
 public:
  std::map<std::string, std::optional<std::string>> values;
  std::map<std::string, bool> said_absent;

  bool null() override { return value(std::nullopt); }
  bool boolean(bool b) override { return value(b ? "true" : "false"); }
  bool number_integer(number_integer_t n) override { return value(std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) override { return value(std::to_string(n)); }
  bool number_float(number_float_t, const string_t& written) override { return value(written); }
  bool string(string_t& text) override { return value(text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ == 1) key_ = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool open() {
    if (depth_++ == 1) nested_.clear();
    return true;
  }
  bool close() {
    if (--depth_ == 1) value(join(nested_, ", "));
    return true;
  }
  bool value(const std::optional<std::string>& text) {
    if (depth_ == 1) {
      values[key_] = text ? present(*text) : std::nullopt;
      said_absent[key_] = !text || is_word_for_absent(strip(*text));
    } else if (text)
      nested_.push_back(*text);
    return true;
  }

  int depth_ = 0;
  std::string key_;
  std::vector<std::string> nested_;
};

/// The start of the object of a key (`"2": {`) from `at` on, or npos.
size_t find_object(std::string_view text, const std::string& key, size_t at) {
  const std::string quoted = "\"" + key + "\"";
  for (at = text.find(quoted, at); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    const size_t colon = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (colon == std::string_view::npos || text[colon] != ':') continue;
    const size_t open = text.find_first_not_of(" \t\r\n", colon + 1);
    if (open != std::string_view::npos && text[open] == '{') return open;
  }
  return at;
}

}  // namespace

std::optional<std::string> parse_json_value(std::string_view raw) {
  raw = strip(raw.substr(0, raw.find('\n')));
  if (!raw.empty() && raw.back() == ',') raw = rstrip(raw.substr(0, raw.size() - 1));
  if (raw.empty()) return std::nullopt;
  Json parsed = Json::parse(raw, nullptr, false);
  if (parsed.is_discarded() && raw.front() == '"')
    parsed = Json::parse(std::string(raw) + "\"", nullptr, false);
  if (parsed.is_string()) return present(parsed.get<std::string>());
  if (!parsed.is_discarded()) return present(std::string(raw));
  if (raw.front() == '"') raw.remove_prefix(1);
  if (!raw.empty() && raw.back() == '"') raw.remove_suffix(1);
  return present(std::string(raw));
}

std::optional<std::string> parse_plain_value(std::string_view raw) {
  raw = strip(raw);
  return present(std::string(rstrip(raw.substr(0, raw.find('\n')))));
}

bool says_absent(std::string_view raw) {
  raw = strip(raw);
  raw = rstrip(raw.substr(0, raw.find('\n')));
  if (!raw.empty() && raw.back() == ',') raw = rstrip(raw.substr(0, raw.size() - 1));
  if (!raw.empty() && raw.front() == '"') raw.remove_prefix(1);
  if (!raw.empty() && raw.back() == '"') raw.remove_suffix(1);
  return is_word_for_absent(strip(raw));
}

JsonAnswer parse_json_answer(std::string_view text, const std::vector<Context>& contexts) {
  text = text.substr(0, text.find(kAnswerClosing));
  JsonAnswer answer;
  size_t at = 0;
  for (size_t c = 0; c < contexts.size(); ++c) {
    auto& values = answer.values.emplace_back(contexts[c].fields.size());
    auto& said_absent = answer.said_absent.emplace_back(contexts[c].fields.size());
    const size_t open = find_object(text, std::to_string(c + 1), at);
    ObjectReader reader;
    const bool read =
        open != std::string_view::npos &&
        Json::sax_parse(text.substr(open), &reader, Json::input_format_t::json, /*strict=*/false);
    answer.parsed.push_back(read);
    if (open != std::string_view::npos) at = open;
    if (!read) continue;
    for (size_t f = 0; f < values.size(); ++f)
      if (const auto found = reader.values.find(contexts[c].fields[f].name);
          found != reader.values.end()) {
        values[f] = found->second;
        said_absent[f] = reader.said_absent.at(found->first);
      }
  }
  return answer;
}

}  // namespace pardec
