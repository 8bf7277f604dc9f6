#pragma once
#include "src/cli/signal_stop.hpp"
#include "src/runs/execute.hpp"

namespace pardec {

/// Handles a run that a signal stopped: prints to stderr how to resume the run, and returns the
/// exit code.
int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop);

/// Returns 3, and prints a message, if the share of failed answers is above `fail_on_error`.
/// Otherwise returns 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
