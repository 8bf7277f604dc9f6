#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

/// Of an answer: names in small letters, the last of equal ones.
using HttpHeaders = std::map<std::string, std::string>;

/// The value; empty: there is none.
std::string header(const HttpHeaders& headers, const std::string& name);

/// Takes a line of an answer's head; a status line begins a new answer.
void take_header_line(std::string_view line, HttpHeaders& headers);

/// Seconds since 1970 of a date as HTTP or ISO 8601 writes it.
std::optional<double> http_date(const std::string& text);

}  // namespace pardec
