#pragma once
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// Answers whose mean lengths differ by more than this share are not the same amount of work.
inline constexpr double kSameLength = 0.1;

/// Reasons to distrust numbers of the comparison; results/table.md lists the codes. Ordered by
/// effect: first those that invalidate everything, then those about answers, then those about
/// speed, then advice.
std::vector<Warning> warnings_of(const Overview& comparison);

}  // namespace pardec
