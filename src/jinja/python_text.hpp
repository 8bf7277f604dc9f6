#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec::jinja {

// Functions of Python's str, for valid UTF-8. Positions and lengths count code points.

std::u32string code_points(std::string_view text);
std::string from_code_points(std::u32string_view codes);

/// `str.isspace` of one code point; also `\s` of Python's `re`.
bool is_python_space(char32_t code);
/// `str.isprintable` of one code point.
bool is_printable(char32_t code);

/// strip, lstrip, rstrip: removes white space, or all characters in `characters`.
std::string strip_text(std::string_view text, bool left, bool right,
                       const std::optional<std::string>& characters = std::nullopt);
/// split, rsplit: at the separator, or at white space; at most `most` splits (negative: no limit).
/// Fault: an empty separator.
std::vector<std::string> split_text(std::string_view text,
                                    const std::optional<std::string>& separator, std::int64_t most,
                                    bool from_right);
std::vector<std::string> split_lines(std::string_view text, bool with_ends = false);
/// At most `most` replacements; negative: all.
std::string replace_text(std::string_view text, std::string_view from, std::string_view to,
                         std::int64_t most);

// Case conversions (python_case.cpp). Fault: a Greek character with an iota subscript, whose other
// case is several characters.

/// Converts from byte `from` on; the text before it decides about a final sigma.
std::string lower_text(std::string_view text, std::size_t from = 0);
std::string upper_text(std::string_view text);
std::string capitalize_text(std::string_view text);
std::string swap_case(std::string_view text);
std::string fold_case(std::string_view text);
/// `str.title`: a word begins after each character without case.
std::string title_text(std::string_view text);
/// Jinja's filter `title`: words begin after spaces and - ( { [ <.
std::string title_words(std::string_view text);

enum class Case { none, lower, upper, title };
/// Fault: a symbol or number in the form of a letter.
Case case_of(char32_t code);
/// Whether there is a character of that case, and none of another case.
bool has_only(std::string_view text, Case wanted);
/// Unicode categories L*, N* and Nd.
bool is_letter(char32_t code);
bool is_numeric(char32_t code);
bool is_decimal(char32_t code);

/// Replaces `<`, `>`, `&` and quotes with HTML entities, as markupsafe does.
std::string escape_html(std::string_view text);

/// `repr` of a str (`ascii`: Python's ascii() of it), and of a float.
std::string python_quoted(std::string_view text, bool ascii = false);
std::string shortest(double value);
/// A JSON string, as written by `json.dumps`.
std::string json_quoted(std::string_view text, bool ensure_ascii);

/// Python's int(text, base) and float(text): allows surrounding white space, and `_` between
/// digits. Empty: not a number. Fault: beyond 64 bits.
std::optional<std::int64_t> parse_whole(std::string_view text, int base = 10);
std::optional<double> parse_real(std::string_view text);

}  // namespace pardec::jinja
