#pragma once
#include <string>

namespace pardec {

/// A number with `decimals` digits after the point; "-" where it is not finite.
std::string fixed(double value, int decimals);

/// A share of 1 as "12.3 %"; "-" where it is not finite.
std::string percent(double share, int decimals = 1);

}  // namespace pardec
