#pragma once
#include <functional>
#include <limits>
#include <stop_token>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"

namespace pardec {

/// Runs what is not yet done of all cells: arms alternate block by block, and each job is stored
/// when it is done, outside the measured time. A stop lets jobs in flight end; the runs then stay
/// open for --resume. RunError where something cannot be stored.
/// `enough` says before each block whether a cell needs no more blocks; empty: every cell needs all
/// of its blocks. A baseline goes on as long as a cell that is compared with it does.
RunCounts run_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                    ArmSessions& sessions, const std::vector<RunCell>& cells, Recorder& recorder,
                    std::stop_token stop, const std::function<bool(const RunCell&)>& enough = {});

/// What a cell takes.
struct CellCost {
  double seconds = 0;     ///< for an example
  std::int64_t rows = 0;  ///< of the cache, for one job at most
};
/// By one batch of the cell's first jobs, behind a job to warm up; by that job alone where it says
/// that the batch may take more than `most_seconds`. Nothing is recorded. What is wrong with one of
/// them is thrown.
CellCost measure_cost(const RunSpec& spec, ArmSessions& sessions, const RunCell& cell,
                      double most_seconds = std::numeric_limits<double>::infinity());

}  // namespace pardec
