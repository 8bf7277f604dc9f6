#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace pardec {

// Functions on the code points of a text. Unless stated otherwise, the text must be valid UTF-8.

/// The length in bytes of a code point with the first byte `lead`.
inline std::size_t utf8_bytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// Returns the code point at offset `at`, and moves `at` to the end of this code point. REQUIRES:
/// at < text.size(), and `at` is a code point boundary.
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const std::size_t bytes = utf8_bytes(text[at]);
  char32_t code = byte(0);
  if (bytes == 2) code = (code & 0x1F) << 6 | (byte(1) & 0x3F);
  if (bytes == 3) code = (code & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
  if (bytes == 4) {
    code = (code & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
  at += bytes;
  return code;
}

/// Returns the code point that ends at offset `end`, and moves `end` to the beginning of this code
/// point. REQUIRES: end > 0, and `end` is a code point boundary.
inline char32_t previous_code_point(std::string_view text, std::size_t& end) {
  do --end;
  while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  std::size_t at = end;
  return next_code_point(text, at);
}

/// The number of code points that begin in a text. The text may be invalid UTF-8.
inline std::ptrdiff_t code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
}

/// The length in bytes of a text without an incomplete code point at its end. The text may be
/// invalid UTF-8.
inline std::size_t finished_utf8(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char byte = text[text.size() - back];
    if ((static_cast<unsigned char>(byte) & 0xC0) == 0x80) continue;
    const bool leads = static_cast<unsigned char>(byte) >= 0xC0;
    return leads && utf8_bytes(byte) > back ? text.size() - back : text.size();
  }
  return text.size();
}

/// Appends a code point to a text, as UTF-8.
inline void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace pardec
