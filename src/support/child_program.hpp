#pragma once
#include <string>
#include <vector>

namespace pardec {

/// What another program did.
struct ChildRun {
  int error = 0;               ///< errno of its start; ENOENT: it is not there
  int status = 0;              ///< of the process, as waitpid gives it
  std::string out, complaint;  ///< its stdout and stderr

  bool good() const { return error == 0 && status == 0; }
};

/// Runs `arguments`, the first of which is looked for on the PATH, with `input` as its stdin, to
/// its end; its streams are nameless files, and there is no shell. RunError where no file can be
/// made.
ChildRun run_child(std::vector<std::string> arguments, const std::string& input);

}  // namespace pardec
