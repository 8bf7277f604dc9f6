#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// A text as it stands between tags or in a quoted attribute: & < > " ' replaced, bytes that are no
/// UTF-8 repaired, control characters other than tab and line end as U+FFFD.
std::string escape_html(std::string_view text);

/// JSON as it may stand in a <script> element: < and the line separators U+2028 and U+2029 are
/// written as \u escapes, which the JSON parser reads back.
std::string escape_json_script(std::string_view json);

/// What a Content-Security-Policy calls a script that stands between <script> and </script>: no
/// other one is run, whatever gets into the page.
std::string script_source(std::string_view script);

}  // namespace pardec
