#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

// GPT-2's alphabet of 256 visible characters, one per byte. Printable Latin-1 characters stand for
// themselves; the other 68 bytes are U+0100 and following, in order.

/// Each byte as its character, in UTF-8.
std::string to_byte_level(std::string_view text);

/// The bytes for a token's characters; nothing if a character is not in the alphabet.
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace pardec
