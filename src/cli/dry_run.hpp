#pragma once
#include <optional>
#include <vector>

#include "src/checkpoint/memory_plan.hpp"
#include "src/runs/workload.hpp"
#include "src/support/table_choice.hpp"

namespace pardec {

/// run --dry-run: prints the plan as a table to stdout. `memory`: none if the network is not known.
/// If the network has a tokenizer, all prompts are tokenized to count jobs that exceed its context.
/// ConfigError: the network does not meet an arm's requirements.
void print_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                const std::optional<MemoryPlan>& memory, TableFormat format);

}  // namespace pardec
