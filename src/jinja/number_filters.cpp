// Filters for numbers.
#include <algorithm>
#include <cmath>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/format_number.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja::filter {

namespace {

void refuse_undefined(V value) {
  if (value.undefined()) throw Fault{str("'", value.undefined()->name, "' is undefined")};
}

}  // namespace

Value to_whole(V value, A arguments) {
  refuse_undefined(value);
  arguments.check(2, {"default", "base"});
  const Value fallback = arguments.get(0, "default", 0);
  const std::int64_t base = arguments.get(1, "base", 10).whole("base");
  std::optional<double> real;
  if (value.integer() || value.boolean()) return value.whole("a number");
  if (value.real()) real = *value.real();
  if (value.text() || value.marked()) {
    const std::string text = to_text(value);
    const auto base_asked = static_cast<int>(std::clamp<std::int64_t>(base, -1, 99));
    if (const auto whole = parse_whole(text, base_asked)) return *whole;
    real = parse_real(text);
  }
  if (!real || !std::isfinite(*real)) return fallback;
  if (std::abs(*real) >= 9.2e18)
    throw Fault{"an integer is larger than 64 bits, which is not supported"};
  return static_cast<std::int64_t>(std::trunc(*real));
}

Value to_real(V value, A arguments) {
  refuse_undefined(value);
  arguments.check(1, {"default"});
  if (value.is_number()) return value.as_real();
  const auto real = value.text() || value.marked() ? parse_real(to_text(value)) : std::nullopt;
  return real ? Value(*real) : arguments.get(0, "default", 0.0);
}

Value absolute(V value, A arguments) {
  arguments.check(0, {});
  if (value.real()) return std::abs(*value.real());
  const std::int64_t whole = value.whole("abs");
  return whole < 0 ? negate(whole) : Value(whole);
}

namespace {

std::int64_t whole_power_of_ten(std::int64_t exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// Python's round() of an integer to tens, hundreds, ...: ties go to the even neighbour.
std::int64_t rounded(std::int64_t value, std::int64_t zeros) {
  if (zeros > 18) throw Fault{"rounding to more than 18 zeros is not supported"};
  const auto unit = whole_power_of_ten(zeros);
  const std::int64_t rest = ((value % unit) + unit) % unit;
  const std::int64_t down = value - rest;
  const bool up = rest > unit - rest || (rest == unit - rest && down / unit % 2 != 0);
  return up ? arithmetic("+", down, unit).whole("a number") : down;
}

}  // namespace

Value round(V value, A arguments) {
  arguments.check(2, {"precision", "method"});
  const std::int64_t precision = arguments.get(0, "precision", 0).whole("precision");
  const std::string method = to_text(arguments.get(1, "method", "common"));
  if (method != "common" && method != "ceil" && method != "floor")
    throw Fault{str("round by '", method, "', expected common, ceil or floor")};
  if (!value.is_number()) throw Fault{str("round takes a number, found ", value.type())};
  if (method == "common") {
    if (!value.real())
      return precision >= 0 ? value.whole("a number")
                            : rounded(value.whole("a number"), -precision);
    if (precision < 0) throw Fault{"rounding a real number to tens is not supported"};
    if (!std::isfinite(*value.real()) || precision > 350) return value;
    const std::string digits =
        real_digits(*value.real(), 'f', precision, false, arguments.budget());
    return std::strtod(digits.c_str(), nullptr);
  }
  if (std::abs(precision) > 18) throw Fault{"rounding to so many digits is not supported"};
  const auto nearest = [&](double real) {
    return method == "ceil" ? std::ceil(real) : std::floor(real);
  };
  if (precision >= 0) {
    const std::int64_t unit = whole_power_of_ten(precision);
    if (!value.real()) return arithmetic("/", arithmetic("*", value.whole("a number"), unit), unit);
    if (!std::isfinite(*value.real())) throw Fault{"round takes a finite number"};
    return nearest(*value.real() * static_cast<double>(unit)) / static_cast<double>(unit);
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  if (!std::isfinite(value.as_real())) throw Fault{"round takes a finite number"};
  return nearest(value.as_real() * unit) / unit;
}

}  // namespace pardec::jinja::filter
