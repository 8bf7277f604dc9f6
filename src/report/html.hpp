#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Escapes text for use between tags or in a quoted attribute. Escapes & < > " ', repairs invalid
/// UTF-8, and replaces control characters other than tab and line feed by U+FFFD.
std::string escape_html(std::string_view text);

/// Escapes JSON for use in a <script> element. Writes < and the line separators U+2028 and U+2029
/// as \u escapes; a JSON parser reads the same values.
std::string escape_json_script(std::string_view json);

}  // namespace pardec
