#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// What `pardec` can do, in the order of its help.
std::vector<Verb> all_verbs();

/// The whole program: reads the command line, runs its verb, says on stderr what went wrong.
/// Returns the exit code (`pardec --help` lists them).
int run_program(int argc, char** argv);

/// run_program, then the end of the process with its exit code, at once: what libtorch does at the
/// end of main takes .1 s, and nothing needs it.
[[noreturn]] void run_program_and_leave(int argc, char** argv);

}  // namespace pardec
