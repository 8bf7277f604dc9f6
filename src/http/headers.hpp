#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// The headers of an answer, by name in lower case. For a repeated header, the last value counts.
using HttpHeaders = std::map<std::string, std::string>;

/// The value of a header; empty if there is no such header. `name`: in lower case.
std::string header(const HttpHeaders& headers, const std::string& name);

/// Adds a header line of an answer to `headers`. A status line removes all earlier headers, since
/// it starts a new answer, for example after a redirect.
void take_header_line(std::string_view line, HttpHeaders& headers);

/// Converts a date in the format of HTTP or ISO 8601 to seconds since 1970 (UTC). None: the text is
/// not a date.
std::optional<double> http_date(const std::string& text);

}  // namespace pardec
