#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The new scores of one run, and for each metric the number of scores that differ from the stored
/// ones.
struct Rescored {
  std::vector<StoredGeneration> generations;  ///< their `scores` are the new ones only
  std::map<const TaskMetric*, std::int64_t> changed;
  std::vector<const TaskMetric*> unfit;  ///< metrics that could score no answer
};

/// Computes scores of stored answers again, without storing them. `by_network`: computes the rows
/// of metrics with source ByNetwork. ConfigError: an answer cannot be scored. RunError: see
/// PythonSandbox::run. REQUIRES: no metric has source ByJudge; `by_network` is set if a metric has
/// source ByNetwork. Otherwise std::logic_error.
Rescored rescore(Store& store, const RunRow& run, const std::vector<const TaskMetric*>& metrics,
                 const ScoreExample& by_network = {});

}  // namespace pardec
