#include "judges/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The contents of a Markdown fence, if the whole text is one.
std::string_view without_fence(std::string_view text) {
  if (!text.starts_with("```") || !text.ends_with("```") || text.size() < 6) return text;
  const size_t line = text.find('\n');
  return line == std::string_view::npos ? text : strip(text.substr(line, text.size() - 3 - line));
}

/// Shortened for a message.
std::string shown_value(const Json& value) {
  const std::string text = dump(value);
  return text.size() <= 40 ? text : repair_utf8(text.substr(0, 40)) + "...";
}

bool is_of_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  return value.is_number_integer() ||
         (value.is_number() && std::floor(value.get<double>()) == value.get<double>());
}

std::string at(const std::string& where, const std::string& key) {
  return where.empty() ? key : str(where, ".", key);
}

/// The text as JSON, possibly in a fence; none, with the problem: it is not JSON.
std::optional<Json> parsed(std::string_view text, std::string* problem = nullptr) {
  try {
    const std::string_view json = without_fence(strip(text));
    Json value = parse_json(json, "the verdict", 0);
    if (const std::string key = repeated_key(json); !key.empty())
      throw DataError("the verdict", 0, str("'", key, "' occurs twice in it"));
    return value;
  } catch (const std::exception& error) {
    if (problem) *problem = error.what();
    return std::nullopt;
  }
}

/// Finds where a text stops being one JSON value, without building a value.
class EndOfJson : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    stopped = at;
    return false;
  }
  std::size_t stopped = 0;
};

/// Number of bytes after which the text turns out not to be a JSON value; none: it is one.
std::optional<std::size_t> stops_at(std::string_view text) {
  const std::string_view json = without_fence(strip(text));
  EndOfJson end;
  if (Json::sax_parse(json, &end)) return std::nullopt;
  return end.stopped;
}

/// The positions of all marks, in order.
std::vector<std::size_t> marks_in(std::string_view text) {
  std::vector<std::size_t> places;
  for (const std::string_view mark : {kVerdictOpens, kVerdictCloses})
    for (size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
      places.push_back(at);
  std::sort(places.begin(), places.end());
  return places;
}

/// Whether the text contains a verdict for which `is` holds. A verdict begins at the start of the
/// text or at an opening mark, and ends at one of the next marks or at the end of the text.
bool any_verdict(std::string_view text, const Json& schema,
                 const std::function<bool(const Json&)>& is) {
  constexpr size_t kMostEnds = 8;  // a verdict may quote marks
  std::vector<size_t> marks = marks_in(text);
  marks.push_back(text.size());
  const auto begins = [&](size_t begin, size_t mark) {
    for (size_t m = mark; m < std::min(marks.size(), mark + kMostEnds); ++m) {
      const std::string_view part = without_fence(strip(text.substr(begin, marks[m] - begin)));
      if (part.starts_with('{') && part.ends_with('}'))
        if (const auto value = parsed(part);
            value && violation(*value, schema).empty() && is(*value))
          return true;
    }
    return false;
  };
  if (begins(0, 0)) return true;
  for (size_t m = 0; m + 1 < marks.size(); ++m)
    if (text.substr(marks[m]).starts_with(kVerdictOpens) &&
        begins(marks[m] + kVerdictOpens.size(), m + 1))
      return true;
  return false;
}

}  // namespace

FoundVerdict find_verdict(std::string_view reply, const Json& schema, const std::string& verdict) {
  std::string problem = "it has no " + std::string(kVerdictOpens);
  if (without_fence(strip(reply)).starts_with('{'))
    if (const auto value = parsed(reply, &problem)) return {*value, violation(*value, schema)};
  const size_t last_open = reply.rfind(kVerdictOpens), close = reply.rfind(kVerdictCloses);
  if (last_open == std::string_view::npos) return {{}, problem};
  if (close == std::string_view::npos || close < last_open)
    return {{}, str("its last ", kVerdictOpens, " is not closed")};
  // Takes the first mark from which a value extends to the last closing mark, since a verdict may
  // quote marks. The number of bytes read without success is limited to a multiple of the reply.
  constexpr size_t kInVain = 16;
  size_t read = 0;
  for (size_t open = reply.find(kVerdictOpens); open <= last_open;
       open = reply.find(kVerdictOpens, open + 1)) {
    const size_t begin = open + kVerdictOpens.size();
    const std::string_view part = reply.substr(begin, close - begin);
    if (const auto stopped = stops_at(part)) {
      if (part.starts_with("```")) read += part.find('\n');
      read += *stopped;
      if (open == last_open) parsed(part, &problem);
      if (read / kInVain > reply.size())
        return {{}, str("it has too many ", kVerdictOpens, " after which there is no verdict")};
      continue;
    }
    const auto value = parsed(part, &problem);
    if (!value) continue;
    FoundVerdict found{*value, violation(*value, schema)};
    const auto differs = [&](const Json& other) {
      return verdict.empty() ? other != *value : other.at(verdict) != value->at(verdict);
    };
    if (found.problem.empty() &&
        (any_verdict(reply.substr(0, open), schema, differs) ||
         any_verdict(reply.substr(close + kVerdictCloses.size()), schema, differs)))
      found.problem = "it holds two verdicts that contradict each other";
    return found;
  }
  return {{}, problem};
}

void check_schema(const Json& schema, const std::string& where) {
  JsonReader read(schema, where);
  const auto type = read.required<std::string>("type");
  constexpr std::array<std::string_view, 7> kTypes{"object",  "array", "string", "number",
                                                   "integer", "null",  "boolean"};
  if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
    throw ConfigError(str(read.where("type"), " is '", type, "'",
                          known_names(type, {kTypes.begin(), kTypes.end()})));
  read.optional<std::string>("description", "");
  const Json& allowed = read.any("enum");
  if (!allowed.is_null() && (!allowed.is_array() || allowed.empty() ||
                             !std::all_of(allowed.begin(), allowed.end(), [&](const Json& value) {
                               return is_of_type(value, type);
                             })))
    throw ConfigError(str(read.where("enum"), " is ", dump(allowed),
                          ", expected a list of values of type ", type));
  read.maybe<double>("minimum");
  read.maybe<double>("maximum");
  const Json& properties = read.any("properties");
  const auto required = read.optional<std::vector<std::string>>("required", {});
  const Json& additional = read.any("additionalProperties");
  const Json& items = read.any("items");
  read.finish();
  if (type != "array" && !items.is_null())
    throw ConfigError(
        str(read.where("items"), " belongs to an array, and the type is '", type, "'"));
  if (type != "object" && !properties.is_null())
    throw ConfigError(
        str(read.where("properties"), " belongs to an object, and the type is '", type, "'"));
  if (type == "array") {
    if (!items.is_object())
      throw ConfigError(str(where, ": an array needs 'items', a schema of what it holds"));
    check_schema(items, where + ".items");
  }
  if (type != "object") return;
  if (!properties.is_object() || properties.empty())
    throw ConfigError(str(where, ": an object needs 'properties', which names what it holds"));
  if (additional != Json(false))
    throw ConfigError(str(where, ": an object needs \"additionalProperties\": false"));
  for (const auto& [key, property] : properties.items()) {
    if (std::find(required.begin(), required.end(), key) == required.end())
      throw ConfigError(str(where, ": '", key,
                            "' is not among 'required', expected all "
                            "properties: a verdict that may lack one is none"));
    check_schema(property, str(where, ".properties.", key));
  }
  for (const std::string& key : required)
    if (!properties.contains(key))
      throw ConfigError(str(where, ": 'required' names '", key, "', which is no property"));
}

std::string violation(const Json& value, const Json& schema, const std::string& where) {
  const std::string subject = where.empty() ? "the verdict" : str("'", where, "'");
  if (const auto type = schema.at("type").get<std::string>(); !is_of_type(value, type))
    return str(subject, " is ", shown_value(value), ", expected ", type);
  if (schema.contains("enum")) {
    const Json& allowed = schema["enum"];
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      return str(subject, " is ", shown_value(value), ", expected one of ", dump(allowed));
  }
  if (value.is_number()) {
    const double number = value.get<double>();
    if (schema.contains("minimum") && !(number >= schema["minimum"].get<double>()))
      return str(subject, " is ", shown_value(value), ", expected at least ",
                 dump(schema["minimum"]));
    if (schema.contains("maximum") && !(number <= schema["maximum"].get<double>()))
      return str(subject, " is ", shown_value(value), ", expected at most ",
                 dump(schema["maximum"]));
  }
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i)
      if (auto wrong = violation(value[i], schema.at("items"), str(where, "[", i, "]"));
          !wrong.empty())
        return wrong;
  }
  if (!value.is_object()) return "";
  const Json& properties = schema.at("properties");
  for (const auto& [key, property] : properties.items()) {
    if (!value.contains(key)) return str("'", at(where, key), "' is missing");
    if (auto wrong = violation(value[key], property, at(where, key)); !wrong.empty()) return wrong;
  }
  for (const auto& [key, member] : value.items())
    if (!properties.contains(key)) return str("'", at(where, key), "' was not asked for");
  return "";
}

OrderedJson schema_to_send(OrderedJson schema) {
  schema.erase("minimum");
  schema.erase("maximum");
  if (schema.contains("items")) schema["items"] = schema_to_send(schema["items"]);
  if (schema.contains("properties"))
    for (auto& [key, property] : schema["properties"].items()) property = schema_to_send(property);
  return schema;
}

}  // namespace pardec
