#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace pardec {

/// An error in the user's input or on the machine. The message is one line that says where the
/// error is, what was found, what was expected, and what to do. `main` converts an Error to an exit
/// code. If a single job fails, the runner stores the job's error and continues with the next job.
/// Bugs in the program are assertions or std::logic_error, not Errors.
class Error : public std::runtime_error {
 public:
  /// The exit code of the process: 2 for wrong usage, configuration or input, 1 for a failed run.
  int exit_code() const { return exit_code_; }

 protected:
  Error(const std::string& what, int exit_code) : std::runtime_error(what), exit_code_(exit_code) {}

 private:
  int exit_code_;
};

/// A flag, an option, an experiment file or a combination of these is invalid. Exit code 2.
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(what, 2) {}
};

/// An input file, such as a dataset or a job file, is invalid or cannot be read. Exit code 2. The
/// message is `file:line: what`; with line 0, it is `file: what`.
struct DataError : Error {
  DataError(std::string_view file, long line, std::string_view what);
};

/// A checkpoint, tokenizer or network cannot be used. Exit code 2. The message is `path: what`.
struct ModelError : Error {
  ModelError(std::string_view path, std::string_view what);
};

/// A database cannot be read or written. Exit code 2 if the file is not a database of this program,
/// or may not be written. Exit code 1 for errors during a run, e.g. a full disk.
struct StoreError : Error {
  StoreError(std::string_view path, std::string_view what, int exit_code);
};

/// A message for any exception. For an Error: the message of the Error. If memory ran out: advice.
/// For any other exception: a text that reports an internal error.
std::string reason_of(const std::exception& error);

/// Something failed while running. Exit code 1.
struct RunError : Error {
  explicit RunError(const std::string& what) : Error(what, 1) {}
};

}  // namespace pardec
