#pragma once

namespace pardec {

/// The whole program: reads the command line, runs its verb, says on stderr what went wrong.
/// Returns the exit code (`pardec --help` lists them).
int run_program(int argc, char** argv);

}  // namespace pardec
