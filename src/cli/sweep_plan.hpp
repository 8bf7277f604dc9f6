#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The memory that an arm needs, in bytes; 0: the weights of its network are not read
/// (ModelOptions::weights).
struct CellBytes {
  std::int64_t all = 0;      ///< for its networks, the program, and the KV cache of running jobs
  std::int64_t weights = 0;  ///< for its networks alone
};
/// `rows`: maximum number of cache rows of a job. Errors: see plan_memory.
CellBytes cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows);

/// The expected time and memory of a sweep.
struct SweepPlan {
  Table table;                     ///< for `sweep --dry-run`: a row for each cell
  double seconds = 0;              ///< sum over all cells whose time is known, for this shard
  std::int64_t bytes = 0;          ///< memory of the process that runs all cells
  std::vector<std::string> cells;  ///< a line with time and memory for each cell
};

/// Plans the cells of a sweep. Each cell is one combination of settings on one dataset. Time and
/// memory of a cell are taken from a stored cell that did the same work with the same settings. If
/// the database has no such cell, one batch of the cell's first jobs is run (measure_cost), and
/// nothing is stored. If this batch fails, the time and memory of the cell are not known, and a
/// note of the table has the reason. `workloads`: the datasets of `spec`. StoreError: the database
/// cannot be read. Other errors: see make_cells, prepare and plan_memory.
SweepPlan plan_sweep(const RunSpec& spec, const std::vector<Workload>& workloads,
                     ArmSessions& sessions);

}  // namespace pardec
