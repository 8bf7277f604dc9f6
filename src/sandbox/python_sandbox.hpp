#pragma once
#include <string>
#include <string_view>

namespace pardec {

struct SandboxLimits {
  double seconds = 10;           ///< wall time; processor time ends one second later
  long memory_megabytes = 1024;  ///< address space
};

enum class Verdict {
  passed,   ///< the program ran to its end
  failed,   ///< an exception, an early exit, a signal
  timeout,  ///< it did not end in time
};
std::string_view name(Verdict verdict);

struct SandboxResult {
  Verdict verdict;
  std::string reason;  ///< the last line that it wrote to stderr; empty where it passed
};

/// Runs Python programs that nobody vouches for, as a network's answers to programming tasks. Each
/// is a process tree of its own behind bubblewrap (bwrap): new namespaces for users, processes,
/// network, IPC and host name; of files /usr alone, read-only, and nothing that can be written; no
/// environment; the limits below; and a filter of system calls (seccomp) under which no further
/// process or thread is made and no socket opened. What is left is killed with bwrap.
/// Python is Debian's /usr/bin/python3, isolated and without site packages.
class PythonSandbox {
 public:
  /// Runs an empty program. ConfigError, with what to install or allow, where bwrap or python3 is
  /// missing, the kernel gives no namespaces, or the machine's system calls have no filter here: it
  /// never runs a program without the walls.
  explicit PythonSandbox(SandboxLimits limits = {});

  /// `program` as a file of its own: its __name__ is "__main__", its stdin is empty and its stdout
  /// goes nowhere. It passes when it ends by itself behind its last line: leaving early by exit()
  /// fails. RunError where no process can be started.
  SandboxResult run(const std::string& program) const;

 private:
  SandboxLimits limits_;
};

}  // namespace pardec
