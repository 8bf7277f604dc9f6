#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/catch.hpp"

namespace pardec::test {

/// The largest difference between two elements at the same index. REQUIRES: equal sizes, not 0.
inline float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  REQUIRE(!a.empty());
  float largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace pardec::test
