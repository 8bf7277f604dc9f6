#include "metrics/python_text.hpp"

#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "src/support/final_sigma.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Characters = std::vector<utf8proc_int32_t>;

Characters characters(std::string_view bytes) {
  const std::string text = repair_utf8(bytes);
  Characters out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    at += static_cast<size_t>(
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         static_cast<utf8proc_ssize_t>(text.size() - at), &code));
    out.push_back(code);
  }
  return out;
}

void append(std::string& text, utf8proc_int32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = static_cast<size_t>(utf8proc_encode_char(code, bytes.data()));
  text.append(reinterpret_cast<const char*>(bytes.data()), size);
}

/// str.isspace(): bidirectional class WS, B or S, or category Zs.
bool is_space(utf8proc_int32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

/// str.isalnum() or the underscore.
bool is_word(utf8proc_int32_t c) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return c == '_';
  }
}

}  // namespace

std::string python_lower(std::string_view text) {
  constexpr utf8proc_int32_t kDottedI = 0x130, kDotAbove = 0x307, kSigma = 0x3A3, kFinal = 0x3C2;
  const Characters in = characters(text);
  const std::u32string codes(in.begin(), in.end());
  std::string out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] == kDottedI) {  // the only character whose lower case is two characters
      append(out, 'i');
      append(out, kDotAbove);
    } else if (in[i] == kSigma && is_final_sigma(codes, i)) {
      append(out, kFinal);
    } else {
      append(out, utf8proc_tolower(in[i]));
    }
  }
  return out;
}

std::vector<std::string> python_split(std::string_view text) {
  std::vector<std::string> pieces;
  bool inside = false;
  for (const auto c : characters(text)) {
    if (is_space(c)) {
      inside = false;
      continue;
    }
    if (!inside) pieces.emplace_back();
    inside = true;
    append(pieces.back(), c);
  }
  return pieces;
}

std::string python_strip(std::string_view text) {
  const Characters in = characters(text);
  size_t begin = 0, end = in.size();
  while (begin < end && is_space(in[begin])) ++begin;
  while (end > begin && is_space(in[end - 1])) --end;
  std::string out;
  for (size_t i = begin; i < end; ++i) append(out, in[i]);
  return out;
}

std::vector<WordStretch> word_stretches(std::string_view text) {
  std::vector<WordStretch> out;
  for (const auto c : characters(text)) {
    const bool word = is_word(c);
    if (out.empty() || out.back().word != word) out.push_back({word, ""});
    append(out.back().text, c);
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (auto& stretch : word_stretches(text))
    if (stretch.word) words.push_back(std::move(stretch.text));
  return words;
}

namespace {

bool is_mark(utf8proc_int32_t c) {
  const auto category = utf8proc_category(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

/// Unicode blocks of scripts without spaces between words.
bool is_unspaced(utf8proc_int32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) ||
         (c >= 0x1780 && c <= 0x17FF) || (c >= 0x3005 && c <= 0x3007) ||
         (c >= 0x3021 && c <= 0x3029) || (c >= 0x3038 && c <= 0x303B) ||
         (c >= 0x3040 && c <= 0x30FF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xA9E0 && c <= 0xA9FF) || (c >= 0xAA60 && c <= 0xAA7F) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF66 && c <= 0xFF9F) ||
         (c >= 0x1B000 && c <= 0x1B16F) || (c >= 0x20000 && c <= 0x3FFFF);
}

}  // namespace

std::string composed(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> held(out, std::free);
  if (size < 0) throw std::bad_alloc();  // the text is valid UTF-8
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

std::vector<std::string> script_words(std::string_view text) {
  enum class After { none, word, unspaced };
  std::vector<std::string> words;
  After after = After::none;
  for (const auto c : characters(composed(python_lower(text)))) {
    if (is_mark(c)) {
      if (after == After::none) {
        words.emplace_back();
        after = After::word;
      }
    } else if (c == '_' || !is_word(c)) {
      after = After::none;
      continue;
    } else {
      const bool unspaced = is_unspaced(c);
      if (unspaced || after != After::word) words.emplace_back();
      after = unspaced ? After::unspaced : After::word;
    }
    append(words.back(), c);
  }
  return words;
}

}  // namespace pardec
