#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

/// A part of a text, in bytes: a match of a pattern, or the text between two matches.
struct Span {
  std::size_t begin, end;
  bool match;
};

/// The pattern of Split and Replace: a text, or a regular expression in Oniguruma's Ruby syntax.
/// \p{...}, \w and \s follow the Unicode version of the installed Oniguruma (6.9.8: Unicode 14).
/// PyPI `tokenizers` 0.23.3 uses Unicode 16, so letters and digits added in Unicode 15 and 16 are
/// recognised there but not here; older code points agree.
class Pattern {
 public:
  /// `{"String": text}` or `{"Regex": expression}`; anything else is a ConfigError that starts with
  /// `where`.
  static Pattern read(const Json& json, const std::string& where);
  static Pattern regex(const std::string& expression, const std::string& where);

  /// Parts that cover `text` from left to right; an empty text has none, whatever the expression.
  /// RunError: the expression backtracks more than about a thousand times per byte of the text, far
  /// more than any tokenizer's expression needs. Thread-safe.
  std::vector<Span> split(std::string_view text) const;
  /// `text` with every match replaced. RunError as above, or if the text grows too large
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
