#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace pardec {

/// The number written in decimal as the whole text. Nothing: the text is not a number, or is out of
/// range for Number.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

/// A number with `decimals` digits after the point; "-" if it is not finite.
std::string fixed(double value, int decimals);

/// A share of 1 as "12.3 %"; "-" if it is not finite.
std::string percent(double share, int decimals = 1);

/// A time in readable units: "4.2 ms", "86 ms", "1.26 s".
std::string seconds_text(double seconds);

/// As a clock shows it: "4:20", "1:04:20". REQUIRES: not negative.
std::string duration(std::int64_t seconds);

/// "1,234,567". REQUIRES: not negative.
std::string grouped(std::int64_t number);

/// The noun, with a plural s (es after an s) unless `count` is 1.
std::string plural(std::int64_t count, std::string_view noun);

/// "1 thread", "2 threads".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace pardec
