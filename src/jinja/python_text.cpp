#include "src/jinja/python_text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/jinja/value.hpp"
#include "src/support/characters.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

std::u32string code_points(std::string_view text) {
  std::u32string codes;
  for (size_t at = 0; at < text.size();) codes.push_back(next_code_point(text, at));
  return codes;
}

std::string from_code_points(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) append_utf8(text, code);
  return text;
}

bool is_python_space(char32_t code) { return is_space(code) || (code >= 0x1C && code <= 0x1F); }

bool is_printable(char32_t code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return code == ' ';
    default:
      return true;
  }
}

std::string strip_text(std::string_view text, bool left, bool right,
                       const std::optional<std::string>& characters) {
  const std::u32string codes = code_points(text);
  const std::u32string chosen = characters ? code_points(*characters) : std::u32string();
  const auto goes = [&](char32_t code) {
    return characters ? chosen.find(code) != std::u32string::npos : is_python_space(code);
  };
  size_t begin = 0, end = codes.size();
  while (left && begin < end && goes(codes[begin])) ++begin;
  while (right && end > begin && goes(codes[end - 1])) --end;
  return from_code_points(std::u32string_view(codes).substr(begin, end - begin));
}

namespace {

std::vector<std::string> split_at_spaces(std::string_view text, std::int64_t most,
                                         bool from_right) {
  std::u32string codes = code_points(text);
  if (from_right) std::reverse(codes.begin(), codes.end());
  const auto space = [&](size_t at) { return is_python_space(codes[at]); };
  std::vector<std::string> words;
  const auto add = [&](size_t begin, size_t end) {
    std::u32string word = codes.substr(begin, end - begin);
    if (from_right) std::reverse(word.begin(), word.end());
    words.push_back(from_code_points(word));
  };
  for (size_t at = 0; at < codes.size();) {
    if (space(at)) {
      ++at;
      continue;
    }
    const size_t begin = at;
    if (most >= 0 && std::ssize(words) == most) {  // the rest, unchanged
      add(begin, codes.size());
      break;
    }
    while (at < codes.size() && !space(at)) ++at;
    add(begin, at);
  }
  if (from_right) std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

std::vector<std::string> split_text(std::string_view text,
                                    const std::optional<std::string>& separator, std::int64_t most,
                                    bool from_right) {
  if (!separator) return split_at_spaces(text, most, from_right);
  if (separator->empty()) throw Fault{"split has an empty separator"};
  std::vector<std::string> parts;
  while (most < 0 || std::ssize(parts) < most) {
    const size_t at = from_right ? text.rfind(*separator) : text.find(*separator);
    if (at == std::string_view::npos) break;
    const size_t behind = at + separator->size();
    parts.emplace_back(from_right ? text.substr(behind) : text.substr(0, at));
    text = from_right ? text.substr(0, at) : text.substr(behind);
  }
  parts.emplace_back(text);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> split_lines(std::string_view text, bool with_ends) {
  constexpr std::u32string_view kEnds = U"\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029";
  std::vector<std::string> lines;
  const std::u32string codes = code_points(text);
  for (size_t at = 0; at < codes.size();) {
    const size_t end = std::min(codes.find_first_of(kEnds, at), codes.size());
    const size_t next = end + (codes.compare(end, 2, U"\r\n") == 0 ? 2 : 1);
    const size_t to = with_ends ? std::min(next, codes.size()) : end;
    lines.push_back(from_code_points(std::u32string_view(codes).substr(at, to - at)));
    at = next;
  }
  return lines;
}

std::string replace_text(std::string_view text, std::string_view from, std::string_view to,
                         std::int64_t most) {
  std::string out;
  size_t at = 0;
  for (std::int64_t done = 0; most < 0 || done < most; ++done) {
    if (from.empty()) {  // before each character, and at the end
      out += to;
      if (at == text.size()) return out;
      const size_t begin = at;
      next_code_point(text, at);
      out += text.substr(begin, at - begin);
      continue;
    }
    const size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out += text.substr(at, found - at);
    out += to;
    at = found + from.size();
  }
  return out += text.substr(at);
}

namespace {

std::string hexadecimal(char32_t code, int digits) {
  std::string out(static_cast<size_t>(digits), '0');
  for (int i = digits - 1; i >= 0; --i, code >>= 4)
    out[static_cast<size_t>(i)] = "0123456789abcdef"[code & 15];
  return out;
}

}  // namespace

std::string python_quoted(std::string_view text, bool ascii) {
  const bool twice =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = twice ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    if (code == U'\\' || code == static_cast<char32_t>(quote)) {
      out += '\\';
      out += static_cast<char>(code);
    } else if (code == U'\n' || code == U'\r' || code == U'\t') {
      out += code == U'\n' ? "\\n" : code == U'\r' ? "\\r" : "\\t";
    } else if (is_printable(code) && (!ascii || code < 0x80)) {
      append_utf8(out, code);
    } else {
      out += code < 0x100     ? "\\x" + hexadecimal(code, 2)
             : code < 0x10000 ? "\\u" + hexadecimal(code, 4)
                              : "\\U" + hexadecimal(code, 8);
    }
  }
  return out + quote;
}

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view all(buffer, static_cast<size_t>(end.ptr - buffer));
  const size_t e = all.find('e');
  const int exponent = std::atoi(std::string(all.substr(e + 1)).c_str());
  if (value != 0 && (exponent < -4 || exponent >= 16)) return std::string(all);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string out(buffer, static_cast<size_t>(fixed.ptr - buffer));
  return out.find('.') == std::string::npos ? out + ".0" : out;
}

std::string json_quoted(std::string_view text, bool ensure_ascii) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    constexpr std::u32string_view kNamed = U"\"\\\n\r\t\f\b";
    if (const size_t named = kNamed.find(code); named != std::u32string::npos) {
      out += '\\';
      out += "\"\\nrtfb"[named];
    } else if (code < 0x20 || (ensure_ascii && code >= 0x7F && code < 0x10000)) {
      out += "\\u" + hexadecimal(code, 4);
    } else if (ensure_ascii && code >= 0x10000) {
      out += "\\u" + hexadecimal(0xD800 + ((code - 0x10000) >> 10), 4) + "\\u" +
             hexadecimal(0xDC00 + ((code - 0x10000) & 0x3FF), 4);
    } else {
      append_utf8(out, code);
    }
  }
  return out + '"';
}

namespace {

/// Removes surrounding white space, and single `_` between digits (with `letters`, also letters
/// count as digits). Empty: not a number.
std::string number_text(std::string_view text, bool letters = false) {
  const std::string bare = strip_text(text, true, true);
  std::string out;
  const auto digit = [&](size_t at) {
    if (at >= bare.size()) return false;
    return letters ? std::isalnum(static_cast<unsigned char>(bare[at])) != 0
                   : bare[at] >= '0' && bare[at] <= '9';
  };
  for (size_t at = 0; at < bare.size(); ++at) {
    if (static_cast<unsigned char>(bare[at]) >= 0x80)
      throw Fault{str("'", bare, "' as a number is not supported")};
    if (bare[at] != '_') {
      out += bare[at];
    } else if (at == 0 || !digit(at - 1) || !digit(at + 1)) {
      return {};
    }
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> parse_whole(std::string_view text, int base) {
  std::string number = number_text(text, base != 10);
  const bool negative = number.starts_with('-');
  if (negative || number.starts_with('+')) number.erase(0, 1);
  if (number.starts_with('-')) return std::nullopt;
  const char mark = number.size() > 1 && number[0] == '0' ? number[1] : ' ';
  const int marked = mark == 'x' || mark == 'X'   ? 16
                     : mark == 'o' || mark == 'O' ? 8
                     : mark == 'b' || mark == 'B' ? 2
                                                  : 0;
  if (marked != 0 && (base == 0 || base == marked)) {
    base = marked;
    number.erase(0, 2);
    if (number.starts_with('-') || number.starts_with('+')) return std::nullopt;
  }
  if (base < 0 || base == 1 || base > 36) return std::nullopt;
  if (base == 0) {
    if (number.starts_with('0') && number.find_first_not_of('0') != std::string::npos)
      return std::nullopt;
    base = 10;
  }
  if (negative) number.insert(0, 1, '-');
  std::int64_t value = 0;
  const auto end = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (number.empty() || end.ptr != number.data() + number.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range)
    throw Fault{str("'", number, "' is larger than 64 bits, which is not supported")};
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<double> parse_real(std::string_view text) {
  std::string number = number_text(text);
  if (number.size() > 1 && number.front() == '+' && number[1] != '-') number.erase(0, 1);
  std::string word = number;
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const bool negative = !word.empty() && word.front() == '-';
  const std::string bare = word.substr(negative ? 1 : 0);
  if (bare == "nan") return std::nan("");
  if (bare == "inf" || bare == "infinity") return negative ? -HUGE_VAL : HUGE_VAL;
  if (bare.empty() || bare.find_first_not_of("0123456789.e+-") != std::string::npos)
    return std::nullopt;
  double value = 0;
  const auto end = std::from_chars(word.data(), word.data() + word.size(), value);
  if (end.ptr != word.data() + word.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range) return std::strtod(word.c_str(), nullptr);
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

}  // namespace pardec::jinja
