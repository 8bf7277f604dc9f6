#pragma once
#include <string>
#include <string_view>

namespace pardec {

struct SandboxLimits {
  /// CPU time of each process, rounded up to whole seconds. The limit of wall time is three times
  /// as much.
  double seconds = 10;
  long memory_megabytes = 1024;  ///< address space of each process
};

enum class SandboxVerdict {
  passed,   ///< the program ran to its end, and all tests pass
  failed,   ///< a test fails, an exception, an early exit, or a signal
  timeout,  ///< it did not end within the limits
};
std::string_view name(SandboxVerdict verdict);

struct SandboxResult {
  SandboxVerdict verdict;
  std::string reason;  ///< one line; empty if passed
};

/// A program and its tests.
struct PythonTask {
  std::string program;  ///< untrusted Python code
  /// The text of the task: top-level functions. Functions without a body, and the last function,
  /// must be provided by the program. Other functions are taken from this text, even if the program
  /// redefines them.
  std::string head;
  std::string test;  ///< Python code that calls these functions, and raises if they are wrong
};

/// Evaluates untrusted Python programs, such as a network's answers to programming tasks.
///
/// Each program is a separate process in bubblewrap (bwrap). It has new namespaces for users,
/// processes, network, IPC and host name, and no capabilities. It sees only /usr, read-only; no
/// devices, no environment, and no descriptors except its source (sealed) and four pipes. It has
/// the limits above, and a filter of system calls (seccomp) that allows only those that Python
/// needs: no new processes or threads, no sockets, no leases or locks of files, no timers or other
/// memory that the limits do not count. Remaining processes are killed with bwrap. Python is
/// Debian's /usr/bin/python3 without site packages; its hashes and the tests' random numbers are
/// seeded.
///
/// The tests run in a second process with the same isolation, which the program cannot reach. The
/// program receives calls through a pipe, and returns values (None, numbers, text, bytes, and
/// lists, tuples, sets, dictionaries of these), which are recreated in the tests' process. Thus
/// only correct values can pass the tests. There is no guarantee that the program computes them as
/// the task demands, nor that the tests are sufficient. Tests with arguments that are not plain
/// values are refused; a program that returns other values has failed.
class PythonSandbox {
 public:
  /// ConfigError: impossible limits, or no filter is available for this machine's system calls.
  explicit PythonSandbox(SandboxLimits limits = {});

  /// Code of the program under `if __name__ == "__main__"` does not run, as in HumanEval's own
  /// evaluation. stdin is empty, and stdout is discarded. ConfigError, with what to install or
  /// allow: bwrap or python3 is missing, or the kernel does not provide namespaces (no program runs
  /// without isolation); or the tests are invalid. RunError: a process cannot be started.
  SandboxResult run(const PythonTask& task) const;

 private:
  SandboxLimits limits_;
};

}  // namespace pardec
