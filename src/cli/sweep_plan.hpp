#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The memory that an arm needs, in bytes. Both numbers are 0 if the weights of the arm's network
/// are not read (ModelOptions::weights).
struct CellBytes {
  std::int64_t all = 0;  ///< for the arm's networks, the program, and the KV cache of a full batch
  std::int64_t weights = 0;  ///< for the arm's networks alone
};
/// Computes the memory that an arm needs while its batch is full. `rows`: maximum number of cache
/// rows of a job. Errors: see plan_memory.
CellBytes cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows);

/// The expected time and memory of a sweep.
struct SweepPlan {
  Table table;                     ///< for `sweep --dry-run`: a row for each cell
  double seconds = 0;              ///< time of this shard: sum over all cells whose time is known
  std::int64_t bytes = 0;          ///< memory of a process that runs all cells
  std::vector<std::string> cells;  ///< for each cell, a line of text with its time and memory
};

/// Plans the cells of a sweep. Each cell is one combination of settings on one dataset. If the
/// database (spec.db) has a cell that did the same work with the same settings, the time and memory
/// of that stored cell are used. Otherwise, one batch of the cell's first jobs is run
/// (measure_cost), and its results are not stored. If this batch fails, the time and memory of the
/// cell are not known, and a note of the table has the reason. `workloads`: one for each dataset of
/// `spec`. `sessions`: the sessions of the arms, in which these batches run. StoreError: the
/// database cannot be read. Other errors: see make_cells, prepare and plan_memory.
SweepPlan plan_sweep(const RunSpec& spec, const std::vector<Workload>& workloads,
                     ArmSessions& sessions);

}  // namespace pardec
