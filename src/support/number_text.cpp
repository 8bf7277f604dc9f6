#include "src/support/number_text.hpp"

#include <cmath>
#include <cstdio>

namespace pardec {

std::string fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  const int size = std::snprintf(nullptr, 0, "%.*f", decimals, value);
  std::string shown(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(shown.data(), shown.size(), "%.*f", decimals, value);
  shown.pop_back();
  return shown;
}

std::string percent(double share, int decimals) {
  return std::isfinite(share) ? fixed(100 * share, decimals) + " %" : "-";
}

std::string seconds_text(double seconds) {
  return seconds < 1 ? fixed(seconds * 1000, seconds < 0.01 ? 1 : 0) + " ms"
                     : fixed(seconds, 2) + " s";
}

std::string duration(std::int64_t seconds) {
  char text[32];
  if (seconds < 3600)
    std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(seconds / 60),
                  static_cast<long long>(seconds % 60));
  else
    std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return std::string(noun) + (count == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + plural(count, noun);
}

}  // namespace pardec
