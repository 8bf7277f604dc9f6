#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Text for use between tags or in a quoted attribute: & < > " ' are escaped, invalid UTF-8 is
/// repaired, and control characters other than tab and line feed become U+FFFD.
std::string escape_html(std::string_view text);

/// JSON for use in a <script> element: < and the line separators U+2028 and U+2029 are written as
/// \u escapes, which a JSON parser reads back.
std::string escape_json_script(std::string_view json);

}  // namespace pardec
