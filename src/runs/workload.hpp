#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/block_plan.hpp"
#include "src/runs/run_spec.hpp"
#include "src/tasks/protocol.hpp"

namespace pardec {

/// One dataset with what all arms do on it.
struct Workload {
  const DatasetEntry* entry;
  Dataset dataset;
  std::int64_t seen = 0;            ///< left out by `unseen`
  std::vector<Example> examples;    ///< selected
  std::vector<Protocol> protocols;  ///< [arm]: a checkpoint may have a wording of its own
  std::vector<BlockPlan> blocks;
  int block = 0;                            ///< examples that each has about
  int filling_block = 0;                    ///< so many would fill every arm's batch
  std::vector<std::string> not_applicable;  ///< [arm] why it does not run here; empty: it does

  bool runs(size_t arm) const { return not_applicable[arm].empty(); }
  /// Those of one job.
  std::vector<const Example*> examples_of(const JobPlan& job) const;
};

/// Reads the datasets that are named, and plans who does what. ConfigError, DataError.
std::vector<Workload> load_workloads(const RunSpec& spec);

/// What an arm is compared with on one dataset: baseline_of.
std::optional<size_t> baseline_on(const RunSpec& spec, const Workload& work, size_t arm);

/// ConfigError where no arm can do anything.
void check_any_runs(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Whether one of the arms asks field by field on data of this shape.
bool asks_alone(Shape shape, const std::vector<Arm>& arms);

}  // namespace pardec
