#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/cli/memory_plan.hpp"
#include "src/cli/plan.hpp"
#include "src/cli/run_flags.hpp"
#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// One dataset with what all arms do on it.
struct Workload {
  const DatasetEntry* entry;
  Dataset dataset;
  std::int64_t seen = 0;          // left out by --unseen
  std::vector<Example> examples;  // selected
  Protocol protocol;
  std::vector<BlockPlan> blocks;
  std::vector<std::string> not_applicable;  // [arm] why it does not run here; empty: it does

  bool runs(size_t arm) const { return not_applicable[arm].empty(); }
  /// Those of one job.
  std::vector<const Example*> examples_of(const JobPlan& job) const;
};

/// Reads the datasets that the flags name, and plans who does what. ConfigError, DataError; where
/// no arm can do anything, unless it is a dry run.
std::vector<Workload> load_workloads(const RunFlags& flags, const std::vector<Arm>& arms,
                                     const std::vector<std::unique_ptr<Decoder>>& decoders);

/// --dry-run: the plan as a table on stdout; `memory` where the network is known. All prompts are
/// tokenized where it has a tokenizer, to count jobs that overflow its context. ConfigError where
/// the network lacks what an arm needs.
void print_plan(const RunFlags& flags, const std::vector<Arm>& arms,
                const std::vector<std::unique_ptr<Decoder>>& decoders,
                const std::vector<Workload>& workloads, const std::optional<MemoryPlan>& memory);

}  // namespace pardec
