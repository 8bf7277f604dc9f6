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
  /// Approximate limit on the total size of texts and tokens, in units of 10^6 bytes. Each dataset
  /// has an equal part of it, and at least one example.
  double megabytes = 8;
  std::uint64_t seed = 1;  ///< seed of the random sample
};

/// Draws a random sample of each dataset's examples. Each sample is sorted in the order of its
/// dataset, and has the answers of all arms in the first repeat. The examples of a dataset are
/// divided into five groups by their answers: failed, cut at a limit, different from the
/// baseline's, wrong, and all others. Examples are drawn from the five groups in turn. `traces`:
/// traces of the invocation's jobs, from which the pass of each token is taken; may be empty.
/// StoreError and DataError: see store.hpp. REQUIRES: `comparison` was computed from `measured`,
/// which was read from `store`, and has at least one arm.
Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits);

}  // namespace pardec
