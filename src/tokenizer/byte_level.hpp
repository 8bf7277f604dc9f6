#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

// GPT-2's alphabet has one visible character for each byte. A byte that is a visible character of
// Latin-1 (not a space or the soft hyphen) is this character. The other 68 bytes are U+0100 to
// U+0143, in the order of the bytes.

/// Replaces each byte by its character.
std::string to_byte_level(std::string_view text);

/// Replaces each character by its byte. None: a character is not in the alphabet. REQUIRES: `token`
/// is valid UTF-8.
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace pardec
