#pragma once
#include <string>
#include <vector>

namespace pardec {

/// The result of a program that was run.
struct ChildRun {
  /// 0: the program was started. Otherwise the errno of the failed start, e.g. ENOENT if there is
  /// no such program; then the other members have no meaning.
  int error = 0;
  int status = 0;              ///< status as from waitpid; 0: the program exited with code 0
  std::string out, complaint;  ///< the program's stdout and stderr

  bool good() const { return error == 0 && status == 0; }
};

/// The environment for child programs: texts "NAME=value". Contains only those variables of this
/// process that are on an allow list (paths, language, fonts and similar), because other variables
/// may contain API keys.
std::vector<std::string> child_environment();

/// A null-terminated list of pointers to the texts, for exec. Valid as long as `texts` is
/// unchanged.
std::vector<char*> pointers(std::vector<std::string>& texts);

/// Runs a program to its end, in child_environment() and without a shell. arguments[0] is the
/// program; a name without a slash is searched for on the PATH. `input`: the text that the program
/// reads from stdin. stdin, stdout and stderr are temporary files. If the program cannot be
/// started, nothing is thrown, and ChildRun::error has the reason. RunError: a temporary file
/// cannot be created or written, or the exit status is not known. REQUIRES: `arguments` is not
/// empty.
ChildRun run_child(std::vector<std::string> arguments, const std::string& input);

/// The Python interpreter of the project's virtual environment (.venv). Without one, "python3",
/// which is searched for on the PATH.
std::string project_python();

}  // namespace pardec
