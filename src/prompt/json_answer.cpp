#include "src/prompt/json_answer.hpp"

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

namespace {

std::optional<std::string> present(const std::string& text) {
  const std::string_view stripped = strip(text);
  if (stripped.empty() || stripped == kAbsent || stripped == "null") return std::nullopt;
  return text;
}

std::optional<std::string> from_json(const Json& value) {
  if (value.is_null()) return std::nullopt;
  return present(value.is_string() ? value.get<std::string>() : dump(value));
}

Json parse_or_discard(std::string_view text) { return Json::parse(text, nullptr, false); }

/// End of the object that begins at `open` (its closing brace included), or npos.
size_t object_end(std::string_view text, size_t open) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"')
      in_string = true;
    else if (c == '{')
      ++depth;
    else if (c == '}' && --depth == 0)
      return i + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> parse_json_value(std::string_view raw) {
  raw = strip(raw.substr(0, raw.find('\n')));
  if (!raw.empty() && raw.back() == ',') raw = rstrip(raw.substr(0, raw.size() - 1));
  if (raw.empty()) return std::nullopt;
  Json parsed = parse_or_discard(raw);
  if (parsed.is_discarded() && raw.front() == '"')
    parsed = parse_or_discard(std::string(raw) + "\"");
  if (!parsed.is_discarded()) return from_json(parsed);
  if (raw.front() == '"') raw.remove_prefix(1);
  if (!raw.empty() && raw.back() == '"') raw.remove_suffix(1);
  return present(std::string(raw));
}

JsonAnswer parse_json_answer(std::string_view text, const std::vector<Context>& contexts) {
  text = text.substr(0, text.find(kAnswerClosing));
  JsonAnswer answer;
  const Json whole = parse_or_discard(text);
  size_t at = text.find('{');
  for (size_t c = 0; c < contexts.size(); ++c) {
    auto& values = answer.values.emplace_back(contexts[c].fields.size());
    const std::string key = std::to_string(c + 1);
    Json object;
    if (whole.is_object()) {
      if (whole.contains(key)) object = whole.at(key);
    } else if (at != std::string_view::npos) {
      // The whole is cut or broken: read this context's object alone.
      const size_t begin = text.find("\"" + key + "\"", at);
      const size_t open = begin == std::string_view::npos ? begin : text.find('{', begin);
      const size_t end = open == std::string_view::npos ? open : object_end(text, open);
      if (end != std::string_view::npos) {
        object = parse_or_discard(text.substr(open, end - open));
        at = end;
      }
    }
    answer.parsed.push_back(object.is_object());
    if (!object.is_object()) continue;
    for (size_t f = 0; f < values.size(); ++f)
      if (const auto found = object.find(contexts[c].fields[f].name); found != object.end())
        values[f] = from_json(*found);
  }
  return answer;
}

}  // namespace pardec
