#include "src/cli/number_flags.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// What is wrong with the number, for the message of the command line; empty: nothing.
template <typename Number>
std::string number_fault(const std::string& text, const std::string& expected) {
  const auto value = number_in<Number>(text);
  const size_t first = text.starts_with('-') ? 1 : 0;
  bool good = value.has_value();
  if constexpr (std::is_floating_point_v<Number>)
    good = good && std::isfinite(*value);
  else
    good = good && (text[first] != '0' || text.size() == first + 1);
  return good ? "" : str("is '", text, "', expected ", expected);
}

}  // namespace

void check_numbers(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (!option.get_lnames().empty() && option.get_lnames().front() == "seed")
    option.check([](const std::string& text) {
      return number_fault<std::uint64_t>(text, "a whole number from 0 to 18446744073709551615");
    });
  else if (type == "N")
    option.check(
        [](const std::string& text) { return number_fault<std::int64_t>(text, "a whole number"); });
  else if (type == "X" || type == "S" || type == "MS")
    option.check([](const std::string& text) { return number_fault<double>(text, "a number"); });
}

}  // namespace pardec
