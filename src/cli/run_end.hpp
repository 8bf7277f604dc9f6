#pragma once
#include <memory>

#include "src/cli/signal_stop.hpp"
#include "src/group/group.hpp"
#include "src/runs/execute.hpp"
#include "src/support/notes.hpp"
#include "src/support/progress.hpp"

namespace pardec {

/// Joins the processes that mpirun started, so that these processes share the blocks of a run.
/// Returns null if this process was started alone. In ranks other than 0, sets `progress` to
/// ProgressStyle::none, so that only rank 0 shows progress. Errors: see Group::join.
std::unique_ptr<Group> join_group(ProgressStyle& progress);
/// Returns a function that prints notes to stderr in rank 0, and drops notes in the other ranks.
/// `group`: the result of join_group; null: this process prints the notes.
Notes notes_of(const Group* group);

/// To be called after a signal stopped a run. If the run had begun (done.invocation is not empty),
/// prints to stderr how to resume the run. Returns the exit code: 128 plus the number of the
/// signal, or 128 plus SIGTERM if not this process but another process of the group received the
/// signal.
int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop);

/// The exit code of a run. If the share of failed answers is above `fail_on_error` (0 to 1), prints
/// a message to stderr, and returns 3. Otherwise returns 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
