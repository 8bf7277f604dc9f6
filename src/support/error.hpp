#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace pardec {

/// What is wrong with the caller's input or the machine, in one line: where, what was found, what
/// was expected, what to do. Only `main` catches these and turns them into an exit code; the runner
/// turns the error of one job into a failed row and goes on. A bug is an assertion, not an Error.
class Error : public std::runtime_error {
 public:
  /// Process exit code of this error: 2 for usage, configuration and bad input, 1 for a failed run.
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

/// A dataset or job file that is not what its format says. Exit code 2. Message: `file:line: what`,
/// line 0 for the whole file.
struct DataError : Error {
  DataError(std::string_view file, long line, std::string_view what);
};

/// A checkpoint, tokenizer or network that cannot be used. Exit code 2. Message: `path: what`.
struct ModelError : Error {
  ModelError(std::string_view path, std::string_view what);
};

/// A database that cannot be read or written. Exit code 2 for a file that is no database of ours or
/// may not be written; 1 for what happens in mid-run (disk full).
struct StoreError : Error {
  StoreError(std::string_view path, std::string_view what, int exit_code);
};

/// What is said of an exception: an Error's own words, else in what way it is none of a user's
/// doing.
std::string reason_of(const std::exception& error);

/// Something failed while running. Exit code 1.
struct RunError : Error {
  explicit RunError(const std::string& what) : Error(what, 1) {}
};

}  // namespace pardec
