#pragma once
#include <string>
#include <vector>

namespace pardec {

/// The result of a program that was run.
struct ChildRun {
  int error = 0;               ///< errno if it could not be started; ENOENT: it does not exist
  int status = 0;              ///< exit status from waitpid
  std::string out, complaint;  ///< the program's stdout and stderr

  bool good() const { return error == 0 && status == 0; }
};

/// The environment of child programs, as "NAME=value". Only variables of an allow list are included
/// (paths, language, fonts and similar), because others may contain API keys.
std::vector<std::string> child_environment();

/// A null-terminated list of pointers to the texts, for exec. Valid as long as `texts` is
/// unchanged.
std::vector<char*> pointers(std::vector<std::string>& texts);

/// Runs a program to its end, in child_environment() and without a shell. arguments[0] is the
/// program, searched on the PATH. `input`: its stdin. The three streams are temporary files.
/// RunError: a temporary file cannot be created.
ChildRun run_child(std::vector<std::string> arguments, const std::string& input);

/// The Python interpreter with the project's packages if there is one, otherwise the system's.
std::string project_python();

}  // namespace pardec
