#pragma once
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// If the mean length of an arm's answers differs from the baseline's by more than this share, the
/// times of the two arms are not for the same amount of work (warning `lengths`).
inline constexpr double kSameLength = 0.1;

/// The warnings about all arms of a comparison (results/table.md lists the codes). Warnings that
/// invalidate everything come first, then warnings about answers, then about speed, then advice.
/// Overview::warnings is not read.
std::vector<Warning> warnings_of(const Overview& comparison);

}  // namespace pardec
