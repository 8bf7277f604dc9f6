#include "src/support/final_sigma.hpp"

#include <utf8proc.h>

#include <array>

namespace pardec {

namespace {

/// Unicode's Case_Ignorable: marks, modifiers, formats, and punctuation that occurs inside words.
bool is_case_ignorable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  constexpr std::array<char32_t, 17> kInsideWords{0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,
                                                  0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                                  0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  for (const auto other : kInsideWords)
    if (c == other) return true;
  return false;
}

/// Unicode's Cased, for characters that are not case-ignorable.
bool is_cased(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      return c == 0xAA || c == 0xBA || (c >= 0x2160 && c <= 0x217F) ||
             (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
             (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  }
}

}  // namespace

bool is_final_sigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace pardec
