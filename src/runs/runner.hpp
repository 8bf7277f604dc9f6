#pragma once
#include <functional>
#include <limits>
#include <stop_token>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"

namespace pardec {

class Group;  // src/group/group.hpp

/// Runs the remaining work of all cells (a cell is one arm on one dataset). With order
/// `interleaved`, arms take turns block by block; with order `blocked`, each arm runs all its
/// blocks before the next arm. Before its first block, each cell runs RunSpec::warmup jobs, whose
/// answers are not stored. After the last block, disturbed blocks are measured again
/// (RunSpec::repair). Each job is stored when it ends; the time for storing is not measured. On a
/// stop, the running jobs are finished, and --resume can continue the run. `recorder`: made for
/// these cells. `enough`: called before each block; returns whether a cell needs no more blocks.
/// Empty: every cell needs all blocks. A baseline runs as long as a cell that is compared with the
/// baseline needs blocks. `group`: the processes that share the remaining blocks; rank 0 determines
/// which blocks these are. Null: this process alone. Errors of single jobs are stored, not thrown.
/// StoreError: the database cannot be read or written. RunError: the trace cannot be written, or a
/// service or another process of the group fails. Other errors: see ArmSessions::run; also
/// exceptions of `enough`.
void run_cells(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               const std::vector<RunCell>& cells, Recorder& recorder, std::stop_token stop,
               const std::function<bool(const RunCell&)>& enough = {}, Group* group = nullptr);

/// The cost of a cell's jobs.
struct CellCost {
  double seconds = 0;     ///< wall time per example, in seconds
  std::int64_t rows = 0;  ///< maximum number of cache rows of one job
};
/// Measures the cost of a cell: runs one warm-up job, then one batch of the first jobs. If the
/// batch is expected to take more than `most_seconds` seconds, only the warm-up job is run, and its
/// cost is returned. Nothing is stored. Errors of jobs are thrown. Other errors: see make_request
/// and ArmSessions::run. REQUIRES: the cell's dataset has a block.
CellCost measure_cost(const RunSpec& spec, ArmSessions& sessions, const RunCell& cell,
                      double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace pardec
