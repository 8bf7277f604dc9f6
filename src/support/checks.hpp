#pragma once
#include <string_view>
#include <type_traits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

/// Checks of the values of settings. Messages contain the name of the setting in backquotes.
namespace pardec {

/// ConfigError: the value is below `least`, or NaN.
template <typename Number>
void check_at_least(std::string_view name, Number value, std::type_identity_t<Number> least) {
  if (!(value >= least))
    throw ConfigError(str("`", name, "` is ", value, ", expected at least ", least));
}

/// ConfigError: the value is above `most`, or NaN.
template <typename Number>
void check_at_most(std::string_view name, Number value, std::type_identity_t<Number> most) {
  if (!(value <= most))
    throw ConfigError(str("`", name, "` is ", value, ", expected at most ", most));
}

}  // namespace pardec
