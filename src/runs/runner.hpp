#pragma once
#include <functional>
#include <limits>
#include <stop_token>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"

namespace pardec {

class Group;  // src/group/group.hpp

/// Runs the remaining work of all cells. Arms alternate block by block. Each job is stored when it
/// finishes, outside the measured time. On a stop, running jobs are finished, and the runs can be
/// continued by --resume. RunError: a result cannot be stored. `enough` is called before each block
/// and returns whether a cell needs no more blocks; empty: every cell needs all blocks. A baseline
/// keeps running while any cell that is compared with it still needs blocks. `group`: processes
/// that share the blocks which rank 0's recorder lacks; null: this process alone.
void run_cells(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               const std::vector<RunCell>& cells, Recorder& recorder, std::stop_token stop,
               const std::function<bool(const RunCell&)>& enough = {}, Group* group = nullptr);

/// The cost of a cell.
struct CellCost {
  double seconds = 0;     ///< per example
  std::int64_t rows = 0;  ///< maximum number of cache rows of one job
};
/// Measures one batch of the cell's first jobs, after one job for warming up. If that job shows
/// that the batch may take more than `most_seconds`, its own cost is used. Nothing is recorded.
/// Errors of the jobs are thrown.
CellCost measure_cost(const RunSpec& spec, ArmSessions& sessions, const RunCell& cell,
                      double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace pardec
