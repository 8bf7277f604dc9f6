#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// Headers of an answer: names in lower case; of repeated headers, the last value.
using HttpHeaders = std::map<std::string, std::string>;

/// The value; empty if there is no such header.
std::string header(const HttpHeaders& headers, const std::string& name);

/// Adds a header line of an answer. A status line starts a new answer.
void take_header_line(std::string_view line, HttpHeaders& headers);

/// Seconds since 1970 of a date in HTTP's or ISO 8601's format.
std::optional<double> http_date(const std::string& text);

}  // namespace pardec
