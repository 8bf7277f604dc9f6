#pragma once
#include <cstdint>

#include "src/report/report.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// A seeded draw of identical, differing and failed answers of one arm beside its baseline's: twice
/// `count` differing ones, `count` of the others, in the dataset's order.
ExampleGroup example_group(Store& store, const RunSummary& baseline, const RunSummary& method,
                           int count, std::uint64_t seed);

}  // namespace pardec
