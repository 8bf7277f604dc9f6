#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// All verbs of `pardec`, in the order of `pardec --help`.
std::vector<Verb> all_verbs();

/// The whole program: parses the command line, runs the verb, and prints errors to stderr. Returns
/// the exit code (kExitCodes). If the verb succeeds, but its output cannot be written to stdout,
/// the exit code is 1.
int run_program(int argc, char** argv);

/// Calls run_program, then ends the process immediately with the returned exit code. This avoids
/// the cleanup of libtorch at the end of main, which takes 0.1 s and is not needed.
[[noreturn]] void run_program_and_leave(int argc, char** argv);

}  // namespace pardec
