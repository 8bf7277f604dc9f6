#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The new scores of one run, by generation, and the number of scores of each metric that differ
/// from the stored ones.
struct Rescored {
  std::vector<StoredGeneration> generations;  ///< with the new scores only
  std::map<const TaskMetric*, std::int64_t> changed;
  std::vector<const TaskMetric*> unfit;  ///< metrics that found nothing to score in the answers
};

/// Computes scores of stored answers again. Stores nothing. `by_network`: computes the rows of
/// metrics that are ByNetwork. ConfigError: answers that cannot be scored. REQUIRES: no metric is
/// ByJudge, and `by_network` is set if one is ByNetwork (std::logic_error).
Rescored rescore(Store& store, const RunRow& run, const std::vector<const TaskMetric*>& metrics,
                 const ScoreExample& by_network = {});

}  // namespace pardec
