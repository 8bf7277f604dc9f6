#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

/// A part of a text, in bytes: a match of a pattern, or the text between two matches. A match may
/// be empty.
struct Span {
  std::size_t begin, end;
  bool match;
};

/// The pattern of the components Split and Replace: a text, or a regular expression in Oniguruma's
/// Ruby syntax. \p{...}, \w and \s follow the Unicode version of the installed Oniguruma (6.9.8:
/// Unicode 14). PyPI `tokenizers` 0.23.3 uses Unicode 16, and therefore also recognises the letters
/// and digits that Unicode 15 and 16 added.
class Pattern {
 public:
  /// Reads `{"String": text}` or `{"Regex": expression}`. ConfigError, which starts with `where`:
  /// the JSON has another form, the text is empty, or the expression is invalid.
  static Pattern read(const Json& json, const std::string& where);
  /// A regular expression. ConfigError, which starts with `where`: the expression is invalid.
  static Pattern regex(const std::string& expression, const std::string& where);

  /// Divides `text` into matches and the text between them, from left to right. An empty text has
  /// no parts, even if the expression matches it. Thread-safe. RunError: the expression reaches a
  /// limit of RegularExpression::Searches. The expressions of real tokenizers need far less.
  std::vector<Span> split(std::string_view text) const;
  /// Replaces every match by `content`. RunError: see split; or the text grows too large
  /// (check_growth).
  std::string replace(std::string_view text, std::string_view content) const;

 private:
  Pattern() = default;
  std::vector<Span> split_regex(std::string_view text) const;
  std::vector<Span> split_literal(std::string_view text) const;

  std::string literal_;  // used if there is no regex_
  std::optional<RegularExpression> regex_;
};

}  // namespace pardec
