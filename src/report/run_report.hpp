#pragma once
#include <cstdint>

#include "src/findings/comparison.hpp"
#include "src/report/report.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The page of one invocation; figures are left out, with a word on stderr, where nothing can draw.
/// `examples`: identical and failed answers of each arm, half of the differing ones; 0: none.
Report make_report(Store& store, const Comparison& comparison, int examples, std::uint64_t seed);

}  // namespace pardec
