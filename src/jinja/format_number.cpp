#include "src/jinja/format_number.hpp"

#include <algorithm>
#include <cmath>

#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::jinja {

std::string real_digits(double value, char kind, std::int64_t precision, bool alternate,
                        Budget& budget) {
  if (!std::isfinite(value)) {
    const std::string shown = shortest(value);
    return kind >= 'a' ? shown : upper_text(shown);
  }
  if (precision > INT32_MAX) throw Fault{"a precision is too large"};
  budget.take(400 + text_steps(static_cast<size_t>(precision)));
  const std::string format = str("%", alternate ? "#" : "", ".*", kind);
  const auto written = [&](char* to, size_t room) {
    return std::snprintf(to, room, format.c_str(), static_cast<int>(precision), value);
  };
  std::string digits(static_cast<size_t>(written(nullptr, 0)) + 1, '\0');
  digits.resize(static_cast<size_t>(written(digits.data(), digits.size())));
  return digits;
}

std::string whole_digits(std::int64_t value, int base, bool upper) {
  std::uint64_t left =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::string digits;
  do {
    digits += (upper ? "0123456789ABCDEF" : "0123456789abcdef")[left % static_cast<unsigned>(base)];
    left /= static_cast<unsigned>(base);
  } while (left > 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string character_of(std::int64_t code) {
  if (code < 0 || code > 0x10FFFF) throw Fault{str(code, " is no number of a character")};
  if (code >= 0xD800 && code < 0xE000)
    throw Fault{str("the half of a character, ", code, ", is not supported")};
  return from_code_points(std::u32string(1, static_cast<char32_t>(code)));
}

std::string first_characters(const std::string& text, std::int64_t most) {
  if (most < 0 || most >= std::ssize(text)) return text;
  size_t end = 0;
  for (; most > 0 && end < text.size(); --most) end += utf8_bytes(text[end]);
  return text.substr(0, end);
}

}  // namespace pardec::jinja
