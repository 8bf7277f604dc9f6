#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace pardec {

// Character classes as in PyPI `tokenizers` 0.23.3, which uses tables of more than one Unicode
// version. Where the tables of the installed utf8proc differ, they are corrected. "Equal" in a
// comment says that the results are the same as in `tokenizers` for all characters.

/// The code points from `first` to `last`, inclusive.
struct CodeRange {
  char32_t first, last;
};

/// Whether one of the ranges, which are sorted, contains `code`.
constexpr bool contains(std::span<const CodeRange> ranges, char32_t code) {
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code,
                                      [](const CodeRange& r, char32_t c) { return r.last < c; });
  return range != ranges.end() && range->first <= code;
}

/// Unicode's White_Space. Equal.
bool is_space(char32_t code);

/// \w of Unicode's UTS #18: letters, letter numbers, marks, decimal digits, connectors, joiners,
/// circled letters. Not equal: follows the Unicode version of the installed utf8proc (2.8: Unicode
/// 15), while `tokenizers` uses Unicode 16.
bool is_word(char32_t code);

/// Decimal digits, letter numbers and other numbers (categories Nd, Nl, No) of Unicode 17. Equal.
bool is_number(char32_t code);

/// ASCII's punctuation and symbols, and Unicode 8's punctuation (P*). Equal.
bool is_punctuation(char32_t code);

/// Combining marks (M*) of Unicode 9. Equal.
bool is_combining_mark(char32_t code);

/// Appends the lower case of a character to `text`, as UTF-8. The lower case is that of Unicode 17,
/// and does not depend on neighbouring characters. Equal.
void append_lower_case(std::string& text, char32_t code);

/// skip_spaces returns the end of the white space (is_space) that starts at `begin`, or `begin` if
/// there is none. skip_spaces_back returns the start of the white space that ends at `end`, or
/// `end` if there is none; it does not go back beyond `limit`. All offsets are in bytes, at
/// character boundaries. REQUIRES: `text` is valid UTF-8.
std::size_t skip_spaces(std::string_view text, std::size_t begin);
std::size_t skip_spaces_back(std::string_view text, std::size_t end, std::size_t limit);

}  // namespace pardec
