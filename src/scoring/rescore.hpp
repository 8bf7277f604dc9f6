#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// The new rows of one run, by generation, and how many of each metric are not stored so already.
struct Rescored {
  std::vector<StoredGeneration> generations;  ///< scores are the new ones alone
  std::map<const TaskMetric*, std::int64_t> changed;
  std::vector<const TaskMetric*> unfit;  ///< found nothing to score in the answers
};

/// Scores of stored answers, computed anew; nothing is stored. `by_network`: gives the rows of the
/// metrics that are ByNetwork. ConfigError: what cannot be scored. REQUIRES: no metric is ByJudge,
/// and `by_network` is set where one is ByNetwork (std::logic_error).
Rescored rescore(Store& store, const RunRow& run, const std::vector<const TaskMetric*>& metrics,
                 const ScoreExample& by_network = {});

}  // namespace pardec
