#pragma once
#include <string>
#include <string_view>

namespace pardec {

struct SandboxLimits {
  /// Processor time of each process, in whole seconds rounded up; three times as much wall time.
  double seconds = 10;
  long memory_megabytes = 1024;  ///< address space of each process
};

enum class SandboxVerdict {
  passed,   ///< the program ran to its end, and the tests hold of what its functions return
  failed,   ///< a test does not hold, an exception, an early exit, a signal
  timeout,  ///< it did not end within the limits
};
std::string_view name(SandboxVerdict verdict);

struct SandboxResult {
  SandboxVerdict verdict;
  std::string reason;  ///< one line; empty where it passed
};

/// A program and what is asked of it.
struct PythonTask {
  std::string program;  ///< Python that nobody vouches for
  /// The task's own text: top-level functions, of which those without a body, and the last one, are
  /// the program's; others are taken from here, whatever the program makes of them.
  std::string head;
  std::string test;  ///< Python that calls these functions, and raises where they are wrong
};

/// Judges Python programs that nobody vouches for, as a network's answers to programming tasks.
///
/// Each program is a process of its own behind bubblewrap (bwrap): new namespaces for users,
/// processes, network, IPC and host name, without capabilities; of files /usr alone, read-only; no
/// device, no environment, no descriptor but its source (sealed) and four pipes; the limits below;
/// and a filter of system calls (seccomp) that allows those alone which Python needs: no further
/// process or thread, no socket, no lease or lock of a file, no timer or other memory that the
/// limits do not count. What is left is killed with
/// bwrap. Python is Debian's /usr/bin/python3, without site packages, its hashes and the tests'
/// random numbers seeded.
///
/// The tests run in a second process behind the same walls, which the program cannot reach: it gets
/// calls through a pipe, and gives back values (None, numbers, text, bytes, lists, tuples, sets,
/// dictionaries of such), which are made anew there. So it passes by right values alone. Not
/// guaranteed: that it computes them as the task's text says, nor that the tests ask enough. Tests
/// whose arguments are no plain values are refused; a program's result that is none has failed.
class PythonSandbox {
 public:
  /// ConfigError for limits that cannot be, and where the machine's system calls have no filter
  /// here.
  explicit PythonSandbox(SandboxLimits limits = {});

  /// What the program has under `if __name__ == "__main__"` does not run, as in HumanEval's own
  /// evaluation; its stdin is empty and its stdout goes nowhere. ConfigError, with what to install
  /// or allow, where bwrap or python3 is missing or the kernel gives no namespaces: no program runs
  /// without the walls; and where the tests cannot be put. RunError where no process can be
  /// started.
  SandboxResult run(const PythonTask& task) const;

 private:
  SandboxLimits limits_;
};

}  // namespace pardec
