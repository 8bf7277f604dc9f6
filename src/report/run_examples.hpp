#pragma once
#include <cstdint>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/report.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The number of examples on a page.
struct ExampleLimits {
  int per_dataset = 24;
  double megabytes = 8;  ///< approximate size of texts and tokens of all examples
  std::uint64_t seed = 1;
};

/// A seeded sample of each dataset's examples with all arms' first answers, in the dataset's order.
/// Draws in turn one that failed, one that hit a limit, one that differs, one that is wrong, and
/// one of the rest, as long as there are any. `measured`: the data of `comparison`; texts are only
/// read for the examples shown. `traces` may be empty; if they include a job, the passes of its
/// tokens are known.
Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits);

}  // namespace pardec
