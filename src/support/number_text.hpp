#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace pardec {

/// Parses a text that consists of one decimal number. For a floating-point type, "inf" and "nan"
/// are numbers too. None: the text is not a number, or is out of the range of Number.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(value) : std::nullopt;
}

/// A number with `decimals` digits after the point; "-" if it is not finite.
std::string fixed(double value, int decimals);

/// A share as "12.3 %" (for 0.123); "-" if it is not finite.
std::string percent(double share, int decimals = 1);

/// A time in readable units: "4.2 ms", "86 ms", "1.26 s"; "- s" for NaN and infinity. REQUIRES:
/// seconds >= 0 or NaN.
std::string seconds_text(double seconds);

/// A time as minutes and seconds, "4:20", or, from one hour on, with hours: "1:04:20". REQUIRES:
/// seconds >= 0.
std::string duration(std::int64_t seconds);

/// A number as "1,234,567". REQUIRES: number >= 0.
std::string grouped(std::int64_t number);

/// The noun, in the plural unless `count` is 1. The plural adds s, or es after an s.
std::string plural(std::int64_t count, std::string_view noun);

/// Number and noun: "1 thread", "2 threads".
std::string counted(std::int64_t count, std::string_view noun);

}  // namespace pardec
