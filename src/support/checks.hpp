#pragma once
#include <string_view>
#include <type_traits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

/// What is checked of the values that a user gives.
namespace pardec {

/// ConfigError where the number of a flag is below `least`, or none.
template <typename Number>
void check_at_least(std::string_view flag, Number value, std::type_identity_t<Number> least) {
  if (!(value >= least)) throw ConfigError(str(flag, " is ", value, ", expected at least ", least));
}

/// ConfigError where the number of a flag is above `most`, or none.
template <typename Number>
void check_at_most(std::string_view flag, Number value, std::type_identity_t<Number> most) {
  if (!(value <= most)) throw ConfigError(str(flag, " is ", value, ", expected at most ", most));
}

/// ConfigError where the number of a flag is no share: below 0, above 1, or none.
inline void check_share(std::string_view flag, double value) {
  if (!(value >= 0 && value <= 1))
    throw ConfigError(str(flag, " is ", value, ", expected a share from 0 to 1"));
}

}  // namespace pardec
