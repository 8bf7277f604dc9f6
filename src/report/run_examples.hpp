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
  /// Approximate limit on the total size of texts and tokens, in units of 10^6 bytes. The limit is
  /// divided equally among the datasets. At least one example of each dataset is shown, even if it
  /// is larger.
  double megabytes = 8;
  std::uint64_t seed = 1;  ///< seed of the random sample
};

/// Selects random examples of each dataset, in the order of the dataset, with the answers of all
/// arms in the first repeat. Before the selection, the examples of a dataset are divided into five
/// groups by their answers: an answer failed, was cut at a limit, differs from the baseline's, or
/// is wrong; and all other examples. If several groups fit, the first of them counts. Examples are
/// drawn from the five groups in turn. `traces`: traces of the invocation's jobs, from which the
/// pass of each token is taken; may be empty.
/// StoreError and DataError: see store.hpp. REQUIRES: `comparison` was computed from `measured`,
/// which was read from `store`, and has at least one arm.
Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits);

}  // namespace pardec
