#pragma once
#include <cstdint>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/report.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// How many examples a page shows.
struct ExampleLimits {
  int per_dataset = 24;
  double megabytes = 8;  ///< texts and tokens of all examples, about
  std::uint64_t seed = 1;
};

/// A seeded draw of each dataset's examples with all arms' first answers, in the dataset's order:
/// in turn one that failed, that hit a limit, that differs, that is wrong, and of the rest, as long
/// as there are any. `measured`: what the comparison is made of; texts are read of what is shown
/// alone. `traces` may be empty; where they hold a job, they tell its passes.
Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits);

}  // namespace pardec
