#pragma once
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// If the mean lengths of two arms' answers differ by more than this share, the arms did not do the
/// same amount of work.
inline constexpr double kSameLength = 0.1;

/// The warnings about a comparison (results/table.md lists the codes). Warnings that invalidate
/// everything come first, then warnings about answers, then about speed, then advice.
std::vector<Warning> warnings_of(const Overview& comparison);

}  // namespace pardec
