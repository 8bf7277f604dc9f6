#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// What is nested deeper is refused: writing, copying and reading a value take a call a level.
inline constexpr int kDeepestJson = 512;

/// The byte of JSON where it is nested deeper than that; npos: nowhere.
std::size_t too_deep(std::string_view text);

/// The first key that stands twice in one object of a JSON text; empty: none. Parsing keeps the
/// last.
std::string repeated_key(std::string_view text);

/// Parses a file or text. A syntax error becomes a DataError with the line where it stands, and so
/// does nesting beyond kDeepestJson.
Json read_json(const std::filesystem::path& file);
OrderedJson read_ordered_json(const std::filesystem::path& file);
/// The object in a file; an empty one where there is no such file. ConfigError: another value.
OrderedJson read_object_if_there(const std::filesystem::path& file);
/// The value of a key; null where the object has none.
OrderedJson value_or_null(const OrderedJson& object, const char* key);
Json parse_json(std::string_view text, std::string_view file, long line);

/// One line of JSON; bytes that are no UTF-8 are repaired first, so it never throws.
std::string dump(const Json& value);
std::string dump(const OrderedJson& value);

/// Reads one JSON object key by key: types are checked, and `finish` refuses keys that nobody asked
/// for. Every error is a ConfigError that starts with `where`.
///   JsonReader read(json, "job.json");  auto id = read.required<std::string>("id"); read.finish();
class JsonReader {
 public:
  JsonReader(const Json& object, std::string where);

  bool has(std::string_view key) const;
  /// The value as it is, or null. Counts as asked for.
  const Json& any(const std::string& key);
  template <typename T>
  T required(const std::string& key);
  template <typename T>
  T optional(const std::string& key, T fallback);
  template <typename T>
  std::optional<T> maybe(const std::string& key);
  /// Throws when the object has a key that was not asked for; names the near ones.
  void finish() const;
  std::string where(std::string_view key) const;

 private:
  template <typename T>
  T convert(const std::string& key, const Json& value) const;
  [[noreturn]] void wrong_type(const std::string& key, const Json& value,
                               std::string_view expected) const;

  const Json& object_;
  std::string where_;
  std::vector<std::string> asked_;
};

}  // namespace pardec
