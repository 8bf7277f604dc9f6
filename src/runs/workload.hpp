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

/// One dataset, and the work of all arms on it.
struct Workload {
  const DatasetEntry* entry;
  Dataset dataset;
  std::int64_t seen = 0;            ///< number of examples left out by `unseen`
  std::vector<Example> examples;    ///< the selected examples
  std::vector<Protocol> protocols;  ///< one per arm, since a checkpoint may have its own wording
  std::vector<BlockPlan> blocks;
  int block = 0;          ///< approximate number of examples per block
  int filling_block = 0;  ///< number of examples that would fill every arm's batch
  /// per arm: why it does not run on this dataset; empty: it does
  std::vector<std::string> not_applicable;

  bool runs(size_t arm) const { return not_applicable[arm].empty(); }
  /// The examples of one job.
  std::vector<const Example*> examples_of(const JobPlan& job) const;
};

/// Reads the datasets of a run, and plans the work of all arms. ConfigError, DataError: a dataset
/// cannot be read.
std::vector<Workload> load_workloads(const RunSpec& spec);

/// The index of an arm's baseline on one dataset (baseline_of).
std::optional<size_t> baseline_on(const RunSpec& spec, const Workload& work, size_t arm);

/// ConfigError: no arm can run on any dataset.
void check_any_runs(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Whether some arm asks for one field at a time on data of this shape.
bool asks_alone(Shape shape, const std::vector<Arm>& arms);

}  // namespace pardec
