#pragma once
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// What says that a number of the comparison should not be believed as it stands;
/// results/README.md lists the codes.
std::vector<Warning> warnings_of(const Comparison& comparison);

}  // namespace pardec
