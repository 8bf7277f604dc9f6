#include "src/http/headers.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "src/support/text.hpp"

namespace pardec {

std::string header(const HttpHeaders& headers, const std::string& name) {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

void take_header_line(std::string_view line, HttpHeaders& headers) {
  line = strip(line);
  if (line.starts_with("HTTP/")) headers.clear();
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  headers[name] = std::string(strip(line.substr(colon + 1)));
}

std::optional<double> http_date(const std::string& text) {
  tm date = {};
  double second = 0;
  int zone_hours = 0, zone_minutes = 0;
  char zone = 'Z';
  const int read = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf%c%2d:%2d", &date.tm_year,
                               &date.tm_mon, &date.tm_mday, &date.tm_hour, &date.tm_min, &second,
                               &zone, &zone_hours, &zone_minutes);
  if (read >= 6) {
    date.tm_year -= 1900, date.tm_mon -= 1;
    const int east = (zone_hours * 60 + zone_minutes) * 60 * (zone == '-' ? -1 : 1);
    return static_cast<double>(timegm(&date)) + second - east;
  }
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  if (seconds < 0) return std::nullopt;
  return static_cast<double>(seconds);
}

}  // namespace pardec
