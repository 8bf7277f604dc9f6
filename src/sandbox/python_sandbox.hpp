#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Limits for the program's process and for the tests' process.
struct SandboxLimits {
  /// CPU time of each process in seconds, above 0 and at most 3600. It is rounded up to whole
  /// seconds. The limit on wall time is 3 x `seconds`, not rounded.
  double seconds = 10;
  long memory_megabytes = 1024;  ///< address space of each process, at least 64
};

/// The outcome of a program and its tests.
enum class SandboxVerdict {
  passed,  ///< the program ended normally, and all tests passed
  /// a test failed, or the program raised an exception, exited early, or was ended by a signal
  failed,
  timeout,  ///< the program and the tests did not end within the limits on CPU time and wall time
};
std::string_view name(SandboxVerdict verdict);

/// The verdict on a program, with its reason.
struct SandboxResult {
  SandboxVerdict verdict;
  /// why the program did not pass: one line, without control characters; empty: it passed
  std::string reason;
};

/// A program and its tests.
struct PythonTask {
  std::string program;  ///< untrusted Python code
  /// The text of the task: trusted Python code with top-level functions. The program must define
  /// the last of these functions, and each function without a body. For all other functions, the
  /// tests use the definition in `head`, even if the program redefines them.
  std::string head;
  /// Trusted Python code that calls the functions in `head`, and raises an exception if a result is
  /// wrong.
  std::string test;
};

/// Evaluates untrusted Python programs, such as a network's answers to programming tasks.
///
/// Each program runs in its own process in bubblewrap (bwrap). The process has new namespaces for
/// users, processes, network, IPC and host name, and no capabilities. It sees /usr (read-only), but
/// no devices, no environment variables except PYTHONHASHSEED, and no descriptors except its source
/// (sealed) and four pipes. SandboxLimits apply. A seccomp filter allows only the system calls that
/// Python needs: no new processes or threads, no sockets, no leases or locks of files, no timers
/// except those of setitimer and alarm, and no memory that the limits do not count. At the end
/// bwrap is killed, together with all processes that still run in it. Python is Debian's
/// /usr/bin/python3 without site packages. Its hashes and the random numbers of the tests have
/// fixed seeds.
///
/// The tests run in a second process with the same isolation, which the program cannot reach. The
/// program receives calls through a pipe, and returns plain values: None, numbers, text, bytes, and
/// lists, tuples, sets and dictionaries of these. The tests' process recreates the values. Thus
/// only correct values can pass the tests. This does not guarantee that the program computes the
/// values as the task demands, or that the tests are sufficient. Tests with arguments that are not
/// plain values are refused. If the program returns other values, the verdict is `failed`.
class PythonSandbox {
 public:
  /// ConfigError: a limit is out of range, or this machine is neither x86-64 nor arm64, so that
  /// there is no filter for its system calls.
  explicit PythonSandbox(SandboxLimits limits = {});

  /// Runs a program and its tests, and waits for the verdict. Code of the program under
  /// `if __name__ == "__main__"` does not run, as in HumanEval's own evaluation. If the program
  /// reads stdin, it reads an empty text; its stdout is discarded. ConfigError: bwrap or python3 is
  /// missing, or the kernel does not allow namespaces (the message says what to install or allow;
  /// no program runs without isolation); or the tests cannot be run: `head` or `test` is not valid
  /// Python, `head` has no function, or the tests have arguments that are not plain values.
  /// RunError: a process, a pipe or a file in memory cannot be created.
  SandboxResult run(const PythonTask& task) const;

 private:
  SandboxLimits limits_;
};

}  // namespace pardec
