#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// Base64 (RFC 4648, section 4), padded with = and without line breaks.
std::string to_base64(std::string_view bytes);
/// Decodes Base64 that is padded with = and has no line breaks. None: the text does not have this
/// form.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace pardec
