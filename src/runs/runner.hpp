#pragma once
#include <stop_token>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"

namespace pardec {

/// Runs what is not yet done of all cells: arms alternate block by block, and each job is stored
/// when it is done, outside the measured time. A stop lets jobs in flight end; the runs then stay
/// open for --resume. RunError where something cannot be stored.
RunCounts run_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                    ArmSessions& sessions, const std::vector<RunCell>& cells, Recorder& recorder,
                    std::stop_token stop);

}  // namespace pardec
