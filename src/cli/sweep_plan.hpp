#pragma once
#include <cstdint>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// What the networks, the program and the jobs in flight of an arm take, of which one holds `rows`
/// rows of the cache at most.
std::int64_t cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows);

/// sweep --dry-run: the cells with the time and the memory that each takes, by those of the same
/// settings in the database, else by a batch of its first jobs, which is run and not recorded.
Table sweep_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                 ArmSessions& sessions);

}  // namespace pardec
