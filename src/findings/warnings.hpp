#pragma once
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// Answers whose length differs by more than this share are not the same work.
inline constexpr double kSameLength = 0.1;

/// Reasons not to trust a number of the comparison as it stands;
/// results/README.md lists the codes. Those that undo most come first: of all, of the answers, of
/// the speed, then advice.
std::vector<Warning> warnings_of(const Overview& comparison);

}  // namespace pardec
