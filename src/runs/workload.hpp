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
  std::int64_t seen = 0;            ///< number of examples left out because of RunSpec::unseen
  std::vector<Example> examples;    ///< the selected examples
  std::vector<Protocol> protocols;  ///< one per arm, since a checkpoint may have its own wording
  std::vector<BlockPlan> blocks;    ///< all blocks of the dataset, for all shards
  int block = 0;                    ///< approximate number of examples per block
  int filling_block = 0;            ///< result of filling_block_examples
  /// [arm]: why the arm does not run on this dataset, as the end of a sentence about the arm;
  /// empty: the arm runs
  std::vector<std::string> not_applicable;

  bool runs(size_t arm) const { return not_applicable[arm].empty(); }
  /// The examples of one job.
  std::vector<const Example*> examples_of(const JobPlan& job) const;
};

/// Reads the datasets of a run, and plans the work of all arms. DataError: a file of a dataset or
/// of a prompt cannot be read or is invalid. ConfigError: a dataset or wording does not exist or is
/// invalid, a column is unknown (strict_columns), there are too few examples, or a setting does not
/// fit a dataset.
std::vector<Workload> load_workloads(const RunSpec& spec);

/// The index of an arm's baseline on one dataset (baseline_of); none: the arm has no baseline.
/// ConfigError: see baseline_of.
std::optional<size_t> baseline_on(const RunSpec& spec, const Workload& work, size_t arm);

/// Checks that some arm can run on some dataset. ConfigError: none can.
void check_any_runs(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Whether some arm asks for one field at a time on data of this shape.
bool asks_alone(Shape shape, const std::vector<Arm>& arms);

}  // namespace pardec
