#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec::jinja {

// What Python's str does, on valid UTF-8. Places and lengths count code points.

std::u32string code_points(std::string_view text);
std::string from_code_points(std::u32string_view codes);

/// `str.isspace` of one code point, which is `\s` of Python's `re` too.
bool is_python_space(char32_t code);
/// `str.isprintable` of one code point.
bool is_printable(char32_t code);

/// strip, lstrip, rstrip: of white space, or of all characters in `characters`.
std::string strip_text(std::string_view text, bool left, bool right,
                       const std::optional<std::string>& characters = std::nullopt);
/// split, rsplit: `most` cuts at most (negative: any number), at the separator, or at white space.
/// Fault: an empty separator.
std::vector<std::string> split_text(std::string_view text,
                                    const std::optional<std::string>& separator, std::int64_t most,
                                    bool from_right);
std::vector<std::string> split_lines(std::string_view text, bool with_ends = false);
/// `most` replacements at most; negative: all.
std::string replace_text(std::string_view text, std::string_view from, std::string_view to,
                         std::int64_t most);

// Other cases (python_case.cpp). Fault: a Greek character with an iota below, whose other case is
// several characters.

/// From the byte `from` on; what stands before decides about a sigma at a word's end.
std::string lower_text(std::string_view text, std::size_t from = 0);
std::string upper_text(std::string_view text);
std::string capitalize_text(std::string_view text);
std::string swap_case(std::string_view text);
std::string fold_case(std::string_view text);
/// `str.title`: a word begins after whatever has no case.
std::string title_text(std::string_view text);
/// Jinja's filter `title`: words begin after spaces and - ( { [ <.
std::string title_words(std::string_view text);

enum class Case { none, lower, upper, title };
/// Fault: a symbol or number in the form of a letter.
Case case_of(char32_t code);
/// Whether there is some character of that case, and none of another.
bool has_only(std::string_view text, Case wanted);
/// Categories of Unicode: L*, N* and Nd.
bool is_letter(char32_t code);
bool is_numeric(char32_t code);
bool is_decimal(char32_t code);

/// `<`, `>`, `&` and quotes as HTML's entities, as markupsafe has them.
std::string escape_html(std::string_view text);

/// `repr` of a str (`ascii` of it) and of a float.
std::string python_quoted(std::string_view text, bool ascii = false);
std::string shortest(double value);
/// A JSON string, as `json.dumps` writes it.
std::string json_quoted(std::string_view text, bool ensure_ascii);

/// int(text, base), float(text) of Python: white space around, `_` between digits. Empty: no such
/// number. Fault: beyond 64 bits.
std::optional<std::int64_t> parse_whole(std::string_view text, int base = 10);
std::optional<double> parse_real(std::string_view text);

}  // namespace pardec::jinja
