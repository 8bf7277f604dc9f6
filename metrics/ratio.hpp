#pragma once
#include <limits>

namespace pardec {

/// part / whole; NaN if `whole` is 0.
inline double ratio_or_nan(double part, double whole) {
  return whole == 0 ? std::numeric_limits<double>::quiet_NaN() : part / whole;
}

}  // namespace pardec
