#include "src/support/characters.hpp"

#include <utf8proc.h>

#include <array>

#include "src/support/utf8.hpp"

namespace pardec {

namespace {

// Additions of later Unicode versions to a class, so that every newer utf8proc gives the same
// result. A range may include code points that never belonged to the class. The oracle test
// compares all code points.

constexpr std::array kMarksAfterUnicode9 = {
    CodeRange{0x7FD, 0x7FD},     CodeRange{0x897, 0x8D3},     CodeRange{0x9FE, 0x9FE},
    CodeRange{0xAFA, 0xAFF},     CodeRange{0xB55, 0xB55},     CodeRange{0xC04, 0xC3C},
    CodeRange{0xCF3, 0xD00},     CodeRange{0xD3B, 0xD3C},     CodeRange{0xD81, 0xD81},
    CodeRange{0xEBA, 0xEBA},     CodeRange{0xECE, 0xECE},     CodeRange{0x1715, 0x1715},
    CodeRange{0x180F, 0x180F},   CodeRange{0x1ABF, 0x1AF0},   CodeRange{0x1CF7, 0x1CF7},
    CodeRange{0x1DF6, 0x1DFA},   CodeRange{0xA82C, 0xA82C},   CodeRange{0xA8FF, 0xA8FF},
    CodeRange{0x10D24, 0x10F85}, CodeRange{0x11070, 0x11074}, CodeRange{0x110C2, 0x110C2},
    CodeRange{0x11145, 0x11146}, CodeRange{0x111C9, 0x111C9}, CodeRange{0x111CE, 0x111CF},
    CodeRange{0x11241, 0x11241}, CodeRange{0x1133B, 0x1133B}, CodeRange{0x113B8, 0x113E2},
    CodeRange{0x1145E, 0x1145E}, CodeRange{0x1182C, 0x11A99}, CodeRange{0x11D31, 0x1612F},
    CodeRange{0x16F4F, 0x16F4F}, CodeRange{0x16F7F, 0x16F87}, CodeRange{0x16FE4, 0x16FF1},
    CodeRange{0x1CF00, 0x1CF46}, CodeRange{0x1E08F, 0x1E6F5},
};

constexpr std::array kPunctuationAfterUnicode8 = {
    CodeRange{0x61D, 0x61D},     CodeRange{0x9FD, 0xA76},     CodeRange{0xC77, 0xC84},
    CodeRange{0x1B4E, 0x1B4F},   CodeRange{0x1B7D, 0x1B7F},   CodeRange{0x2E43, 0x2E5D},
    CodeRange{0x10D6E, 0x10F89}, CodeRange{0x113D4, 0x1145D}, CodeRange{0x11660, 0x116B9},
    CodeRange{0x1183B, 0x11FFF}, CodeRange{0x12FF1, 0x12FF2}, CodeRange{0x16D6D, 0x16FE2},
    CodeRange{0x1E5FF, 0x1E95F},
};

constexpr std::array kNumbersAfterUnicode15 = {
    CodeRange{0x10D40, 0x10D49}, CodeRange{0x116D0, 0x116E3}, CodeRange{0x11BF0, 0x11BF9},
    CodeRange{0x11DE0, 0x11DE9}, CodeRange{0x16130, 0x16139}, CodeRange{0x16D70, 0x16D79},
    CodeRange{0x16FF4, 0x16FF6}, CodeRange{0x1CCF0, 0x1CCF9}, CodeRange{0x1E5F1, 0x1E5FA},
};

/// The lower case of capitals that Unicode 16 and 17 added.
char32_t lower_after_unicode_15(char32_t code) {
  switch (code) {
    case 0xA7CB:
      return 0x264;
    case 0xA7DC:
      return 0x19B;
    case 0x1C89:
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return code + 1;
    default:
      if (code >= 0x10D50 && code <= 0x10D65) return code + 0x20;
      if (code >= 0x16EA0 && code <= 0x16EB8) return code + 0x1B;
      return code;
  }
}

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

}  // namespace

bool is_space(char32_t code) {
  return (code >= 0x9 && code <= 0xD) || code == 0x20 || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_word(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return code == 0x200C || code == 0x200D || (code >= 0x24B6 && code <= 0x24E9) ||
             (code >= 0x1F130 && code <= 0x1F149) || (code >= 0x1F150 && code <= 0x1F169) ||
             (code >= 0x1F170 && code <= 0x1F189);
  }
}

bool is_number(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return contains(kNumbersAfterUnicode15, code);
  }
}

bool is_punctuation(char32_t code) {
  if (code < 0x80) {
    const auto in = [&](char first, char last) {
      return code >= static_cast<char32_t>(first) && code <= static_cast<char32_t>(last);
    };
    return in('!', '/') || in(':', '@') || in('[', '`') || in('{', '~');
  }
  switch (category(code)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return !contains(kPunctuationAfterUnicode8, code);
    default:
      // a symbol since Unicode 12, and a mark since Unicode 11
      return code == 0x166D || code == 0x111C9;
  }
}

bool is_combining_mark(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return !contains(kMarksAfterUnicode9, code);
    default:
      return code == 0x1CF2 || code == 0x1CF3;  // letters since Unicode 12
  }
}

void append_lower_case(std::string& text, char32_t code) {
  if (code == 0x130) {  // the one capital whose lower case is two characters
    text += "i\u0307";
    return;
  }
  const auto lower = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
  append_utf8(text, lower == code ? lower_after_unicode_15(code) : lower);
}

std::size_t skip_spaces(std::string_view text, std::size_t begin) {
  while (begin < text.size()) {
    std::size_t after = begin;
    if (!is_space(next_code_point(text, after))) break;
    begin = after;
  }
  return begin;
}

std::size_t skip_spaces_back(std::string_view text, std::size_t end, std::size_t limit) {
  while (end > limit) {
    std::size_t before = end;
    if (!is_space(previous_code_point(text, before))) break;
    end = before;
  }
  return end;
}

}  // namespace pardec
