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
std::vector<std::string> split_lines(std::string_view text);
/// `most` replacements at most; negative: all.
std::string replace_text(std::string_view text, std::string_view from, std::string_view to,
                         std::int64_t most);

/// Fault: a character whose other case is several characters or depends on its neighbours.
std::string lower_text(std::string_view text);
std::string upper_text(std::string_view text);
std::string capitalize_text(std::string_view text);
/// Jinja's filter `title`: words begin after spaces and - ( { [ <.
std::string title_text(std::string_view text);

/// `repr` of a str and of a float.
std::string python_quoted(std::string_view text);
std::string shortest(double value);
/// A JSON string, as `json.dumps` writes it.
std::string json_quoted(std::string_view text, bool ensure_ascii);

/// int(text), float(text) of Python: white space around, `_` between digits. Empty: no such number.
/// Fault: beyond 64 bits.
std::optional<std::int64_t> parse_whole(std::string_view text);
std::optional<double> parse_real(std::string_view text);

}  // namespace pardec::jinja
