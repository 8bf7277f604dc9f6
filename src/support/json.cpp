#include "src/support/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Builds the same value as nlohmann's parser. That parser compares each key with all earlier ones,
/// which takes minutes for a vocabulary.
class OrderedBuilder : public nlohmann::json_sax<OrderedJson> {
 public:
  OrderedJson take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& value) override { return put(std::move(value)); }
  bool start_array(std::size_t) override { return open(OrderedJson::array()); }
  bool start_object(std::size_t) override { return open(OrderedJson::object()); }
  bool end_array() override { return close(); }
  bool end_object() override { return close(); }

  bool key(string_t& key) override {
    auto& object = open_.back().value->get_ref<OrderedJson::object_t&>();
    const auto [place, is_new] = open_.back().places.emplace(key, object.size());
    if (is_new) object.emplace_back(std::move(key), nullptr);
    next_ = &std::next(object.begin(), static_cast<std::ptrdiff_t>(place->second))->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    if (const auto* wrong = dynamic_cast<const nlohmann::detail::parse_error*>(&error))
      throw *wrong;
    throw dynamic_cast<const nlohmann::detail::out_of_range&>(error);
  }

 private:
  struct Open {
    OrderedJson* value;
    std::unordered_map<std::string, std::size_t> places;  // indices of an object's keys
  };

  template <typename T>
  bool put(T&& value) {
    place() = std::forward<T>(value);
    return true;
  }
  bool open(OrderedJson empty) {
    OrderedJson& value = place();
    value = std::move(empty);
    open_.push_back({&value, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  /// The place of the next value.
  OrderedJson& place() {
    if (open_.empty()) return root_;
    OrderedJson& value = *open_.back().value;
    return value.is_array() ? value.emplace_back() : *next_;
  }

  OrderedJson root_;
  OrderedJson* next_ = nullptr;  // value of the last key
  std::vector<Open> open_;
};

Json parsed(std::string_view text, const Json*) { return Json::parse(text); }
OrderedJson parsed(std::string_view text, const OrderedJson*) {
  OrderedBuilder builder;
  OrderedJson::sax_parse(text, &builder);
  return builder.take();
}

template <typename J>
J parse(std::string_view text, std::string_view file, long line) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  const auto error_at = [&](size_t at, std::string_view what, std::string_view expected) {
    const long lines = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n');
    const size_t line_begin = at ? text.rfind('\n', at - 1) : std::string_view::npos;
    const size_t column = line_begin == std::string_view::npos ? at + 1 : at - line_begin;
    return DataError(file, line > 0 ? line : lines + 1,
                     str(what, " at column ", column, "; expected ", expected));
  };
  if (const size_t at = too_deep(text); at != std::string_view::npos)
    throw error_at(at, "is nested too deeply", str("at most ", kDeepestJson, " levels"));
  try {
    return parsed(text, static_cast<const J*>(nullptr));
  } catch (const nlohmann::json::parse_error& error) {
    const size_t at = std::min<size_t>(error.byte ? error.byte - 1 : 0, text.size());
    throw error_at(
        at,
        str("is not valid JSON: ", at >= text.size() ? "the text ends" : "unexpected character"),
        "one complete JSON value");
  } catch (const nlohmann::json::out_of_range&) {
    throw DataError(file, line, "has a number that no double holds");
  }
}

}  // namespace

std::size_t too_deep(std::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      while (++at < text.size() && text[at] != '"')
        if (text[at] == '\\') ++at;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepestJson) return at;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

Json parse_json(std::string_view text, std::string_view file, long line) {
  return parse<Json>(text, file, line);
}
Json read_json(const std::filesystem::path& file) {
  return parse<Json>(read_file(file), file.string(), 0);
}
OrderedJson read_ordered_json(const std::filesystem::path& file) {
  return parse<OrderedJson>(read_file(file), file.string(), 0);
}

OrderedJson read_object_if_there(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return OrderedJson::object();
  OrderedJson json = read_ordered_json(file);
  if (!json.is_object())
    throw ConfigError(str(file.string(), ": is ", json.type_name(), ", expected an object"));
  return json;
}

OrderedJson value_or_null(const OrderedJson& object, const char* key) {
  return object.contains(key) ? object.at(key) : OrderedJson();
}

std::string repeated_key(std::string_view text) {
  std::vector<std::set<std::string>> open;
  std::string repeated;
  const auto look = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && repeated.empty())
      if (auto key = parsed.get<std::string>(); !open.back().insert(key).second)
        repeated = std::move(key);
    return true;
  };
  [[maybe_unused]] const Json parsed = Json::parse(text, look, /*allow_exceptions=*/false);
  return repeated;
}

std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string dump(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

JsonReader::JsonReader(const Json& object, std::string where)
    : object_(object), where_(std::move(where)) {
  if (!object_.is_object())
    throw ConfigError(str(where_, ": is ", object_.type_name(), ", expected an object"));
}

std::string JsonReader::where(std::string_view key) const { return str(where_, ": '", key, "'"); }

bool JsonReader::has(std::string_view key) const {
  return object_.contains(key) && !object_.at(std::string(key)).is_null();
}

const Json& JsonReader::any(const std::string& key) {
  static const Json kNull;
  asked_.push_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? kNull : *found;
}

void JsonReader::wrong_type(const std::string& key, const Json& value,
                            std::string_view expected) const {
  throw ConfigError(
      str(where(key), " is ", repair_utf8(shortened(dump(value), 60)), ", expected ", expected));
}

template <typename T>
T JsonReader::convert(const std::string& key, const Json& value) const {
  if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) wrong_type(key, value, "true or false");
    return value.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) wrong_type(key, value, "a string");
    return value.get<std::string>();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!value.is_number()) wrong_type(key, value, "a number");
    return value.get<double>();
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer()) wrong_type(key, value, "a whole number");
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
      wrong_type(key, value, str("at most ", std::numeric_limits<T>::max()));
    if (!value.is_number_unsigned() &&
        value.get<std::int64_t>() < static_cast<std::int64_t>(std::numeric_limits<T>::min()))
      wrong_type(key, value, str("at least ", std::numeric_limits<T>::min()));
    return value.get<T>();
  } else {
    if (!value.is_array()) wrong_type(key, value, "an array");
    T out;
    for (const auto& item : value) out.push_back(convert<typename T::value_type>(key, item));
    return out;
  }
}

template <typename T>
std::optional<T> JsonReader::maybe(const std::string& key) {
  const Json& value = any(key);
  if (value.is_null()) return std::nullopt;
  return convert<T>(key, value);
}

template <typename T>
T JsonReader::required(const std::string& key) {
  auto value = maybe<T>(key);
  if (!value) throw ConfigError(str(where(key), " is missing"));
  return *value;
}

template <typename T>
T JsonReader::optional(const std::string& key, T fallback) {
  return maybe<T>(key).value_or(std::move(fallback));
}

void JsonReader::finish() const {
  for (const auto& [key, value] : object_.items())
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
      throw ConfigError(str(where_, ": unknown key '", key, "'", known_names(key, asked_)));
}

#define PARDEC_JSON_TYPE(T)                                  \
  template T JsonReader::required<T>(const std::string&);    \
  template T JsonReader::optional<T>(const std::string&, T); \
  template std::optional<T> JsonReader::maybe<T>(const std::string&);
PARDEC_JSON_TYPE(bool)
PARDEC_JSON_TYPE(int)
PARDEC_JSON_TYPE(std::int64_t)
PARDEC_JSON_TYPE(std::uint64_t)
PARDEC_JSON_TYPE(double)
PARDEC_JSON_TYPE(std::string)
PARDEC_JSON_TYPE(std::vector<std::string>)
PARDEC_JSON_TYPE(std::vector<int>)
PARDEC_JSON_TYPE(std::vector<double>)
#undef PARDEC_JSON_TYPE

}  // namespace pardec
