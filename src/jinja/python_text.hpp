#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec::jinja {

// Functions of Python's str. Texts are valid UTF-8; positions and lengths count code points.

// Conversions between UTF-8 and code points.
std::u32string code_points(std::string_view text);
std::string from_code_points(std::u32string_view codes);

/// `str.isspace` of one code point; the same as `\s` in Python's `re`.
bool is_python_space(char32_t code);
/// `str.isprintable` of one code point.
bool is_printable(char32_t code);

/// str.strip, lstrip and rstrip: removes white space, or the characters in `characters`. `left`,
/// `right`: whether characters are removed at the beginning, and at the end.
std::string strip_text(std::string_view text, bool left, bool right,
                       const std::optional<std::string>& characters = std::nullopt);
/// str.split and rsplit: splits at `separator` (none: at white space), at most `most` times
/// (negative: no limit). `from_right`: splits at the last places instead of the first, as rsplit
/// does. Fault: the separator is empty.
std::vector<std::string> split_text(std::string_view text,
                                    const std::optional<std::string>& separator, std::int64_t most,
                                    bool from_right);
/// str.splitlines. `with_ends`: whether the lines keep their line breaks.
std::vector<std::string> split_lines(std::string_view text, bool with_ends = false);
/// str.replace: replaces `from` by `to`, at most `most` times (negative: no limit).
std::string replace_text(std::string_view text, std::string_view from, std::string_view to,
                         std::int64_t most);

// Case conversions (python_case.cpp). All of them except lower_text and fold_case throw a Fault if
// a Greek character with an iota subscript would become more than one character. swap_case and
// title_text also throw the Fault of case_of.

/// str.lower of the part of the text from byte `from` on. The part before `from` is not in the
/// result, but may decide whether a sigma is the last letter of a word.
std::string lower_text(std::string_view text, std::size_t from = 0);
std::string upper_text(std::string_view text);       ///< str.upper
std::string capitalize_text(std::string_view text);  ///< str.capitalize
std::string swap_case(std::string_view text);        ///< str.swapcase
std::string fold_case(std::string_view text);        ///< str.casefold
/// `str.title`: a word begins after each character without case.
std::string title_text(std::string_view text);
/// Jinja's filter `title`: a word begins after white space and after - ( { [ <.
std::string title_words(std::string_view text);

enum class Case { none, lower, upper, title };
/// The case of a character: upper for the Unicode category Lu, lower for Ll, title for Lt. Fault: a
/// character outside these categories that Python counts as a letter with case, or a modifier
/// letter (e.g. U+00AA, U+2173, U+24D0, U+02B0, U+30FC).
Case case_of(char32_t code);
/// Whether the text has at least one character of the case `wanted`, and no character of another
/// case. Characters without case (Case::none) are ignored. Fault: see case_of.
bool has_only(std::string_view text, Case wanted);
// Whether the character is in these Unicode categories.
bool is_letter(char32_t code);   ///< L*
bool is_numeric(char32_t code);  ///< N*
bool is_decimal(char32_t code);  ///< Nd

/// Replaces <, >, & and quotes by HTML entities, as markupsafe does.
std::string escape_html(std::string_view text);

/// Python's repr() of a str; with `ascii`, Python's ascii().
std::string python_quoted(std::string_view text, bool ascii = false);
/// Python's repr() of a float: the shortest text that gives the same number.
std::string shortest(double value);
/// A JSON string as json.dumps writes it.
std::string json_quoted(std::string_view text, bool ensure_ascii);

/// Python's int(text, base) and float(text): white space around the number and `_` between digits
/// are allowed. `base`: 2 to 36, or 0: the prefix 0x, 0o or 0b determines the base, which is 10
/// without a prefix. None: the text is not a number, or `base` is invalid. Fault: an integer beyond
/// 64 bits, or a character outside ASCII.
std::optional<std::int64_t> parse_whole(std::string_view text, int base = 10);
std::optional<double> parse_real(std::string_view text);

}  // namespace pardec::jinja
