#pragma once
#include <cstdint>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The memory in bytes that an arm needs: for its networks, the program, and its concurrent jobs
/// with at most `rows` rows each in the KV cache. 0: the weights of the arm's network are not read
/// (ModelOptions::weights).
std::int64_t cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows);

/// The table of `sweep --dry-run`: the cells (one combination of settings each), with the expected
/// time and memory. Both are taken from a stored cell with the same settings. If there is none, one
/// batch of the cell's first jobs is run without recording it.
Table sweep_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                 ArmSessions& sessions);

}  // namespace pardec
