#pragma once
#include <string>
#include <vector>

namespace pardec {

/// The result of running another program.
struct ChildRun {
  int error = 0;               ///< errno of starting it; ENOENT: the program does not exist
  int status = 0;              ///< exit status as from waitpid
  std::string out, complaint;  ///< its stdout and stderr

  bool good() const { return error == 0 && status == 0; }
};

/// The environment of child programs, as "NAME=value": an allow list with paths, language, fonts
/// and the like. Other variables may contain keys of services, and are not passed on.
std::vector<std::string> child_environment();

/// The texts as a null-terminated list of C strings, valid as long as `texts` is unchanged.
std::vector<char*> pointers(std::vector<std::string>& texts);

/// Runs a program to its end in child_environment(), with `input` as its stdin. The first of
/// `arguments` is searched on the PATH. The streams are temporary files, and no shell is involved.
/// RunError: a temporary file cannot be created.
ChildRun run_child(std::vector<std::string> arguments, const std::string& input);

/// The Python with the project's packages if it exists, otherwise the system's.
std::string project_python();

}  // namespace pardec
