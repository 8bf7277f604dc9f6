#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

// GPT-2's alphabet: one visible character for each byte. A byte that is a printable Latin-1
// character is this character; the other 68 bytes are U+0100 to U+0143, in order.

/// Replaces each byte by its character.
std::string to_byte_level(std::string_view text);

/// Replaces each character by its byte. None: a character is not in the alphabet.
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace pardec
