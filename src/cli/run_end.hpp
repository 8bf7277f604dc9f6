#pragma once
#include <memory>

#include "src/cli/signal_stop.hpp"
#include "src/group/group.hpp"
#include "src/runs/execute.hpp"
#include "src/support/notes.hpp"

namespace pardec {

/// Joins the processes that mpirun started to do a run together; null: this one is alone. Rank 0
/// alone shows progress.
std::unique_ptr<Group> join_group(RunSpec& spec);
/// Prints the notes of rank 0.
Notes notes_of(const Group* group);

/// The exit code of the program if a signal stopped a run; prints to stderr how to resume.
int stopped(const Execution& done, const RunSpec& spec, const SignalStop& stop);

/// 3 if the share of failed answers exceeds the limit, with a message; otherwise 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
