#pragma once
#include <cstdint>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The memory for an arm's networks, the program, and the concurrent jobs, each of which has at
/// most `rows` rows in the cache.
std::int64_t cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows);

/// sweep --dry-run: the cells (one combination of settings each), with their time and memory. These
/// come from stored cells with the same settings, or else from running a batch of the cell's first
/// jobs without recording it.
Table sweep_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                 ArmSessions& sessions);

}  // namespace pardec
