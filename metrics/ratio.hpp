#pragma once
#include <limits>

namespace pardec {

/// NaN where there is nothing to be a part of.
inline double ratio_or_nan(double part, double whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : part / whole;
}

}  // namespace pardec
