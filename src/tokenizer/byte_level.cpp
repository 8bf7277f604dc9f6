#include "src/tokenizer/byte_level.hpp"

#include <array>

#include "src/support/utf8.hpp"

namespace pardec {

namespace {

constexpr bool is_visible(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
}

constexpr std::array<char16_t, 256> kCharOfByte = [] {
  std::array<char16_t, 256> table{};
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<std::size_t>(byte)] = static_cast<char16_t>(is_visible(byte) ? byte : next++);
  }
  return table;
}();

constexpr std::size_t kCodes = 256 + 68;

constexpr std::array<int, kCodes> kByteOfChar = [] {
  std::array<int, kCodes> table{};
  for (int& entry : table) entry = -1;
  for (std::size_t byte = 0; byte < 256; ++byte) table[kCharOfByte[byte]] = static_cast<int>(byte);
  return table;
}();

}  // namespace

std::string to_byte_level(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char byte : text) append_utf8(out, kCharOfByte[static_cast<unsigned char>(byte)]);
  return out;
}

std::optional<std::string> from_byte_level(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (std::size_t at = 0; at < token.size();) {
    // A file may have tokens that are no UTF-8.
    if (at + utf8_bytes(token[at]) > token.size()) return std::nullopt;
    const char32_t code = next_code_point(token, at);
    if (code >= kCodes || kByteOfChar[code] < 0) return std::nullopt;
    out.push_back(static_cast<char>(kByteOfChar[code]));
  }
  return out;
}

}  // namespace pardec
