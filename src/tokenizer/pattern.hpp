#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/regular_expression.hpp"

namespace pardec {

/// A part of a text, in bytes: a match of a pattern, or what stands between two.
struct Span {
  std::size_t begin, end;
  bool match;
};

/// What Split and Replace look for: a text, or a regular expression in Oniguruma's Ruby syntax.
/// \p{...}, \w and \s follow the Unicode version of the installed Oniguruma (6.9.8: Unicode 14).
/// PyPI `tokenizers` 0.23.3 carries Unicode 16, so code points assigned in Unicode 15 and 16 are
/// letters or digits there and not here; older ones agree everywhere.
class Pattern {
 public:
  /// `{"String": text}` or `{"Regex": expression}`; anything else is a ConfigError that starts with
  /// `where`.
  static Pattern read(const Json& json, const std::string& where);
  static Pattern regex(const std::string& expression, const std::string& where);

  /// Parts that cover `text` from left to right; an empty text has none, whatever the expression.
  /// RunError: the expression goes back more often than a thousand times the bytes of the text, far
  /// beyond what a tokenizer's does. Thread-safe.
  std::vector<Span> split(std::string_view text) const;
  /// `text` with every match replaced. RunError as above, or where it grows beyond `most_bytes`.
  std::string replace(std::string_view text, std::string_view content) const;

 private:
  Pattern() = default;
  std::vector<Span> split_regex(std::string_view text) const;
  std::vector<Span> split_literal(std::string_view text) const;

  std::string literal_;  // used where there is no regex_
  std::optional<RegularExpression> regex_;
};

}  // namespace pardec
