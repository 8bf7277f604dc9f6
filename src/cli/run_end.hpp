#pragma once
#include "src/cli/signal_stop.hpp"
#include "src/runs/execute.hpp"

namespace pardec {

/// Exit code of the program where a signal stopped a run; says on stderr how to go on.
int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop);

/// 3 where a larger share of the answers failed than may; says so. Else 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
