#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace pardec {

/// An error in the caller's input or on the machine, described in one line: where, what was found,
/// what was expected, what to do. Only `main` catches these and turns them into an exit code; the
/// runner turns the error of a single job into a failed row and continues. Bugs are assertions, not
/// Errors.
class Error : public std::runtime_error {
 public:
  /// Exit code of the process for this error: 2 for usage, configuration and bad input, 1 for a
  /// failed run.
  int exit_code() const { return exit_code_; }

 protected:
  Error(const std::string& what, int exit_code) : std::runtime_error(what), exit_code_(exit_code) {}

 private:
  int exit_code_;
};

/// A flag, option, experiment file or combination that cannot be run. Exit code 2.
struct ConfigError : Error {
  explicit ConfigError(const std::string& what) : Error(what, 2) {}
};

/// A dataset or job file that violates its format. Exit code 2. Message: `file:line: what`; line 0
/// stands for the whole file.
struct DataError : Error {
  DataError(std::string_view file, long line, std::string_view what);
};

/// A checkpoint, tokenizer or network that cannot be used. Exit code 2. Message: `path: what`.
struct ModelError : Error {
  ModelError(std::string_view path, std::string_view what);
};

/// A database that cannot be read or written. Exit code 2 for a file that is not one of the
/// program's databases or may not be written; 1 for errors during a run (disk full).
struct StoreError : Error {
  StoreError(std::string_view path, std::string_view what, int exit_code);
};

/// The description of an exception: an Error's message; advice if memory ran out; otherwise the
/// message of an internal error.
std::string reason_of(const std::exception& error);

/// Something failed while running. Exit code 1.
struct RunError : Error {
  explicit RunError(const std::string& what) : Error(what, 1) {}
};

}  // namespace pardec
