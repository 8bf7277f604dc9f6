// Python's upper, lower and title case.
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "src/jinja/python_text.hpp"
#include "src/jinja/value.hpp"
#include "src/support/characters.hpp"
#include "src/support/final_sigma.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

namespace {

utf8proc_int32_t number(char32_t code) { return static_cast<utf8proc_int32_t>(code); }
utf8proc_category_t category(char32_t code) { return utf8proc_category(number(code)); }

struct Several {
  char32_t code;
  std::u32string_view upper;
};
/// Characters whose upper case is several characters (SpecialCasing.txt), except Greek ones with an
/// iota.
constexpr std::array kSeveral{
    Several{U'\u00df', U"SS"},
    Several{U'\u01f0', U"J\u030c"},
    Several{U'\u0390', U"\u0399\u0308\u0301"},
    Several{U'\u03b0', U"\u03a5\u0308\u0301"},
    Several{U'\u0587', U"\u0535\u0552"},
    Several{U'\u1e96', U"H\u0331"},
    Several{U'\u1e97', U"T\u0308"},
    Several{U'\u1e98', U"W\u030a"},
    Several{U'\u1e99', U"Y\u030a"},
    Several{U'\u1e9a', U"A\u02be"},
    Several{U'\ufb00', U"FF"},
    Several{U'\ufb01', U"FI"},
    Several{U'\ufb02', U"FL"},
    Several{U'\ufb03', U"FFI"},
    Several{U'\ufb04', U"FFL"},
    Several{U'\ufb05', U"ST"},
    Several{U'\ufb06', U"ST"},
};

/// The upper case if it is several characters. Fault: such a character is missing in the table.
std::optional<std::u32string_view> several_upper(char32_t code) {
  for (const Several& one : kSeveral)
    if (one.code == code) return one.upper;
  utf8proc_int32_t folded[4];
  int boundary = 0;
  const auto count = utf8proc_decompose_char(number(code), folded, 4, UTF8PROC_CASEFOLD, &boundary);
  if (count > 1 && code != U'\u0130' && code != U'\u1e9e')
    throw Fault{str("the upper case of '", from_code_points(std::u32string(1, code)),
                    "' is several characters, which is not supported")};
  return std::nullopt;
}

void append_upper(std::string& out, char32_t code) {
  if (const auto several = several_upper(code))
    out += from_code_points(*several);
  else
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(number(code))));
}

void append_title(std::string& out, char32_t code) {
  if (const auto several = several_upper(code)) {
    out += from_code_points(several->substr(0, 1));
    out += lower_text(from_code_points(several->substr(1)));
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(number(code))));
  }
}

void append_lower(std::string& out, std::u32string_view codes, size_t at) {
  if (codes[at] == U'\u03a3')
    append_utf8(out, is_final_sigma(codes, at) ? U'\u03c2' : U'\u03c3');
  else
    append_lower_case(out, codes[at]);
}

}  // namespace

bool is_letter(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_LU && found <= UTF8PROC_CATEGORY_LO;
}
bool is_numeric(char32_t code) {
  const auto found = category(code);
  return found >= UTF8PROC_CATEGORY_ND && found <= UTF8PROC_CATEGORY_NO;
}
bool is_decimal(char32_t code) { return category(code) == UTF8PROC_CATEGORY_ND; }

Case case_of(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
      return Case::upper;
    case UTF8PROC_CATEGORY_LL:
      return Case::lower;
    case UTF8PROC_CATEGORY_LT:
      return Case::title;
    default:
      break;
  }
  // Some characters count as letters because of their look (Other_Lowercase, Other_Uppercase).
  const bool odd = code == U'\u00aa' || code == U'\u00ba' || code == U'\u0345' ||
                   category(code) == UTF8PROC_CATEGORY_LM || (code >= 0x2160 && code <= 0x217F) ||
                   (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F189);
  if (odd)
    throw Fault{
        str("the case of '", from_code_points(std::u32string(1, code)), "' is not supported")};
  return Case::none;
}

bool has_only(std::string_view text, Case wanted) {
  bool found = false;
  for (const char32_t code : code_points(text)) {
    const Case own = case_of(code);
    if (own != wanted && own != Case::none) return false;
    found |= own == wanted;
  }
  return found;
}

std::string lower_text(std::string_view text, size_t from) {
  const std::u32string codes = code_points(text);
  std::string out;
  for (size_t at = code_points(text.substr(0, from)).size(); at < codes.size(); ++at)
    append_lower(out, codes, at);
  return out;
}

std::string upper_text(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) append_upper(out, next_code_point(text, at));
  return out;
}

std::string capitalize_text(std::string_view text) {
  if (text.empty()) return {};
  size_t at = 0;
  std::string out;
  append_title(out, next_code_point(text, at));
  return out + lower_text(text, at);
}

std::string swap_case(std::string_view text) {
  const std::u32string codes = code_points(text);
  std::string out;
  for (size_t at = 0; at < codes.size(); ++at) {
    const Case found = case_of(codes[at]);
    if (found == Case::upper)
      append_lower(out, codes, at);
    else if (found == Case::lower)
      append_upper(out, codes[at]);
    else
      append_utf8(out, codes[at]);
  }
  return out;
}

std::string fold_case(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t folded[8];
    int boundary = 0;
    const auto count = utf8proc_decompose_char(number(next_code_point(text, at)), folded, 8,
                                               UTF8PROC_CASEFOLD, &boundary);
    for (auto i = 0; i < count; ++i) append_utf8(out, static_cast<char32_t>(folded[i]));
  }
  return out;
}

std::string title_text(std::string_view text) {
  const std::u32string codes = code_points(text);
  std::string out;
  bool inside = false;
  for (size_t at = 0; at < codes.size(); ++at) {
    if (inside)
      append_lower(out, codes, at);
    else
      append_title(out, codes[at]);
    inside = case_of(codes[at]) != Case::none;
  }
  return out;
}

std::string title_words(std::string_view text) {
  const auto between = [](char32_t code) {
    return is_python_space(code) ||
           std::u32string_view(U"-({[<").find(code) != std::u32string::npos;
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t first = next_code_point(text, at);
    if (between(first)) {
      append_utf8(out, first);
      continue;
    }
    const size_t rest = at;
    while (at < text.size()) {
      size_t next = at;
      if (between(next_code_point(text, next))) break;
      at = next;
    }
    out += upper_text(text.substr(begin, rest - begin)) + lower_text(text.substr(rest, at - rest));
  }
  return out;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    constexpr std::string_view kMarks = "<>&'\"";
    constexpr const char* kEntities[] = {"&lt;", "&gt;", "&amp;", "&#39;", "&#34;"};
    const size_t found = kMarks.find(c);
    out += found == std::string_view::npos ? std::string(1, c) : kEntities[found];
  }
  return out;
}

}  // namespace pardec::jinja
