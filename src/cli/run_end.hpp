#pragma once
#include "src/cli/signal_stop.hpp"
#include "src/runs/execute.hpp"

namespace pardec {

/// The exit code of the program if a signal stopped a run; prints to stderr how to resume.
int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop);

/// 3 if the share of failed answers exceeds the limit, with a message; otherwise 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
