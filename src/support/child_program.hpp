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

/// What of the environment other programs get, as "NAME=value": where things lie, language, fonts
/// and the like, by a list. The rest may be keys of services, and stays here.
std::vector<std::string> child_environment();

/// The texts as C takes lists of them, which ends with null; good as long as they stay.
std::vector<char*> pointers(std::vector<std::string>& texts);

/// Runs `arguments`, the first of which is looked for on the PATH, with `input` as its stdin, to
/// its end, in child_environment(); its streams are nameless files, and there is no shell. RunError
/// where no file can be made.
ChildRun run_child(std::vector<std::string> arguments, const std::string& input);

/// Python with the project's packages where they are, else the system's.
std::string project_python();

}  // namespace pardec
