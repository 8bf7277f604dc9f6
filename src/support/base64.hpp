#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// Base64 (RFC 4648), with = at the end.
std::string to_base64(std::string_view bytes);
/// None: the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace pardec
