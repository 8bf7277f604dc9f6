#pragma once
#include <optional>
#include <vector>

#include "src/checkpoint/memory_plan.hpp"
#include "src/runs/workload.hpp"
#include "src/support/table_choice.hpp"

namespace pardec {

/// run --dry-run: the plan as a table on stdout; `memory` where the network is known. All prompts
/// are tokenized where it has a tokenizer, to count jobs that overflow its context. ConfigError
/// where the network lacks what an arm needs.
void print_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                const std::optional<MemoryPlan>& memory, TableFormat format);

}  // namespace pardec
