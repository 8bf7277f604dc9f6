#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

// GPT-2's alphabet of 256 visible characters, one for each byte: printable Latin-1 stands for
// itself, the 68 other bytes for U+0100 and up, in their order.

/// Every byte as its character, in UTF-8.
std::string to_byte_level(std::string_view text);

/// The bytes that a token's characters stand for; none when one is not of the alphabet.
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace pardec
