#pragma once
#include <optional>
#include <vector>

#include "src/checkpoint/memory_plan.hpp"
#include "src/runs/workload.hpp"
#include "src/support/table_choice.hpp"

namespace pardec {

/// For `run --dry-run`: prints the plan of a run to stdout, as a table with a row for each arm on
/// each dataset. `workloads`: one for each dataset of `spec`. `memory`: the memory plan to show in
/// a note; none: no note. If an arm's network has a tokenizer, all prompts of the arm are tokenized
/// to count the jobs that do not fit into the network's context. ConfigError, thrown after
/// printing: the network does not meet an arm's requirements. Other errors: see look_at
/// (plan_notes.hpp).
void print_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                const std::optional<MemoryPlan>& memory, TableFormat format);

}  // namespace pardec
