#include "src/training/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pardec {

double Schedule::rate(std::int64_t step) const {
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  const auto rest = static_cast<double>(std::max<std::int64_t>(1, steps - warmup));
  const double x = std::min(1.0, static_cast<double>(step - warmup) / rest);
  return peak * (floor + (1 - floor) * 0.5 * (1 + std::cos(std::numbers::pi * x)));
}

}  // namespace pardec
