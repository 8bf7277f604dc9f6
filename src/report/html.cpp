#include "src/report/html.hpp"

#include <algorithm>
#include <cstddef>

#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
          out += "\uFFFD";
        else
          out += c;
    }
  }
  return out;
}

std::string script_source(std::string_view script) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t kBytes = 32;
  const std::string hash = sha256(script);  // hexadecimal, two digits per byte
  std::string base64;
  for (std::size_t at = 0; at < kBytes; at += 3) {
    const std::size_t count = std::min<std::size_t>(3, kBytes - at);
    const auto bits = static_cast<unsigned>(std::stoul(hash.substr(2 * at, 2 * count), nullptr, 16))
                      << 8 * (3 - count);
    for (std::size_t digit = 0; digit < 4; ++digit)
      base64 += digit <= count ? kDigits[bits >> (18 - 6 * digit) & 63] : '=';
  }
  return str("'sha256-", base64, "'");
}

std::string escape_json_script(std::string_view json) {
  std::string out = replace_all(std::string(json), "<", "\\u003c");
  out = replace_all(out, "\u2028", "\\u2028");
  return replace_all(out, "\u2029", "\\u2029");
}

}  // namespace pardec
