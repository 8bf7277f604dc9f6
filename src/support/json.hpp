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

/// Maximum nesting depth of JSON. Deeper values are refused, because reading, copying and writing a
/// value recurse once per level.
inline constexpr int kDeepestJson = 512;

/// The byte offset at which a JSON text exceeds kDeepestJson; npos: the text does not exceed it.
std::size_t too_deep(std::string_view text);

/// The first key that occurs twice in the same object of a JSON text; empty: there is none. (The
/// parser keeps the last value.) If the text is invalid, only the keys before the error are
/// checked.
std::string repeated_key(std::string_view text);

/// Reads and parses a file. A byte order mark is ignored. DataError: the file cannot be read
/// (read_file). DataError, which names file and line: a syntax error, or nesting deeper than
/// kDeepestJson. DataError, which names the file: a number is too large for a double.
Json read_json(const std::filesystem::path& file);
OrderedJson read_ordered_json(const std::filesystem::path& file);
/// Reads the object in a file; an empty object if the file does not exist. ConfigError: the file
/// does not contain an object. DataError: see read_json.
OrderedJson read_object_if_there(const std::filesystem::path& file);
/// The value of a key; null if the object lacks the key.
OrderedJson value_or_null(const OrderedJson& object, const char* key);
/// Parses a text. `file` and `line` say where the text is, for errors. `line` 0: the text is a
/// whole file, and errors name the line within the text. DataError: the text is invalid, in the
/// same cases as for read_json.
Json parse_json(std::string_view text, std::string_view file, long line);

/// The value as one line of JSON. Invalid UTF-8 in the value becomes U+FFFD, so the function does
/// not throw.
std::string dump(const Json& value);
std::string dump(const OrderedJson& value);

/// Reads one JSON object key by key, with type checks. `finish` refuses keys that were not read.
/// Every error is a ConfigError that starts with `where`.
///   JsonReader read(json, "job.json");  auto id = read.required<std::string>("id"); read.finish();
class JsonReader {
 public:
  /// `object` must outlive this reader. ConfigError: `object` is not a JSON object.
  JsonReader(const Json& object, std::string where);

  /// Whether the object has the key with a value other than null.
  bool has(std::string_view key) const;
  /// The value of a key; null if the key is missing. This and the next three functions mark the key
  /// as read.
  const Json& any(const std::string& key);
  /// The value of a key as a T. If the key is missing or its value is null: `required` throws a
  /// ConfigError, `optional` returns `fallback`, and `maybe` returns none. ConfigError, which names
  /// the key: the value has another type or is out of the range of T. T is bool, int, int64_t,
  /// uint64_t, double, string, or a vector of int, double or string.
  template <typename T>
  T required(const std::string& key);
  template <typename T>
  T optional(const std::string& key, T fallback);
  template <typename T>
  std::optional<T> maybe(const std::string& key);
  /// ConfigError: the object has a key that was not read. The message suggests similar names.
  void finish() const;
  /// The beginning of an error message about a key: `where`, then the key in quotes.
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
