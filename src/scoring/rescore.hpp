#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The new scores of one run.
struct Rescored {
  std::vector<StoredGeneration> generations;  ///< their `scores` are the new scores only
  /// for each metric: number of new scores that are not stored with the same version, value and
  /// details
  std::map<const TaskMetric*, std::int64_t> changed;
  /// metrics that gave no score, although some answers did not fail
  std::vector<const TaskMetric*> unfit;
};

/// Computes scores of stored answers again, without storing the new scores. `by_network`: computes
/// the rows of metrics with source ByNetwork. ConfigError: an answer cannot be scored. RunError:
/// see PythonSandbox::run. REQUIRES: no metric has source ByJudge; `by_network` is set if a metric
/// has source ByNetwork. Otherwise std::logic_error.
Rescored rescore(Store& store, const RunRow& run, const std::vector<const TaskMetric*>& metrics,
                 const ScoreExample& by_network = {});

}  // namespace pardec
