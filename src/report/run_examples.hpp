#pragma once
#include <cstdint>
#include <vector>

#include "src/engine/trace.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/report.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Limits on the examples on a page.
struct ExampleLimits {
  int per_dataset = 24;  ///< the largest number of examples of a dataset; 0: no examples
  /// Approximate total size of texts and tokens. The datasets have equal parts of it, and at least
  /// one example each.
  double megabytes = 8;
  std::uint64_t seed = 1;  ///< of the random drawing
};

/// Draws a random sample of each dataset's examples, with the answers of the first repeat of every
/// arm that has one, in the order of the dataset. Examples are drawn in turn from five groups:
/// failed, cut by a limit, different from the baseline, wrong, and all others. REQUIRES:
/// `comparison` was computed from `measured`, and has at least one arm. `traces`: may be empty; for
/// jobs with a trace, the pass of each token is shown.
Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits);

}  // namespace pardec
