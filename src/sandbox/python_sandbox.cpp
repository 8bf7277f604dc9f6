#include "src/sandbox/python_sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "src/sandbox/runners.hpp"
#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {
    if (descriptor < 0) throw RunError(str("sandbox: ", std::strerror(errno)));
  }
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&&) = delete;
  ~File() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// A sealed file in memory with `content`, positioned at its beginning.
File memory_file(const void* content, std::size_t size) {
  File file(::memfd_create("pardec", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto* bytes = static_cast<const char*>(content);
  for (std::size_t written = 0; written < size;) {
    const auto count = ::write(file.get(), bytes + written, size - written);
    if (count <= 0) throw RunError(str("sandbox: ", std::strerror(errno)));
    written += static_cast<std::size_t>(count);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) !=
      0)
    throw RunError(str("sandbox: ", std::strerror(errno)));
  return file;
}

struct Pipe {
  File read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw RunError(str("sandbox: ", std::strerror(errno)));
  return {File(ends[0]), File(ends[1])};
}

#if defined(__x86_64__)
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kMachine = 0;
#endif

/// System calls that a Python program, and bwrap before it, cannot do without; all others are
/// refused. None of these creates processes or threads, opens a network, changes files, blocks
/// other processes, or allocates memory that the limits do not count.
constexpr std::array kAllowed{
    // Starting, memory, and exit.
    SYS_execve,
    SYS_exit,
    SYS_exit_group,
    SYS_brk,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_madvise,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_get_robust_list,
    SYS_futex,
    SYS_restart_syscall,
#ifdef SYS_rseq
    SYS_rseq,
#endif
    SYS_getrandom,
    SYS_prlimit64,
    SYS_membarrier,
    // bwrap's first process waits for its child.
    SYS_wait4,
    SYS_waitid,
    // Reading /usr and the pipes, and writing to the pipes.
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_lseek,
    SYS_close,
    SYS_openat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_statfs,
    SYS_fstatfs,
    SYS_getdents64,
    SYS_readlinkat,
    SYS_faccessat,
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_close_range
    SYS_close_range,
#endif
    SYS_dup,
    SYS_dup3,
    SYS_getcwd,
    SYS_chdir,
    SYS_fchdir,
    SYS_umask,
    SYS_ppoll,
    SYS_pselect6,
    SYS_fadvise64,
    // Signals to itself.
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_rt_sigpending,
    SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait,
    SYS_sigaltstack,
    SYS_kill,
    SYS_tkill,
    SYS_tgkill,
    SYS_setitimer,
    SYS_getitimer,
    // Clocks, and information about itself.
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_times,
    SYS_getrusage,
    SYS_getpid,
    SYS_getppid,
    SYS_gettid,
    SYS_getpgid,
    SYS_getsid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getgroups,
    SYS_getresuid,
    SYS_getresgid,
    SYS_uname,
    SYS_sysinfo,
    SYS_getcpu,
    SYS_getpriority,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
#ifdef __x86_64__
    SYS_arch_prctl,
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_access,
    SYS_readlink,
    SYS_getdents,
    SYS_dup2,
    SYS_poll,
    SYS_select,
    SYS_pause,
    SYS_alarm,
    SYS_time,
    SYS_getpgrp,
    SYS_getrlimit,
#endif
};

/// A system call with a restricted second argument: only these values are allowed.
struct Restricted {
  long call;
  std::vector<unsigned> allowed;
};

/// fcntl may not lease, lock or watch files of the host, nor enlarge pipes. ioctl may ask whether a
/// descriptor is a terminal.
std::vector<Restricted> restricted_calls() {
  return {{SYS_fcntl, {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL}},
          {SYS_ioctl, {TCGETS, TIOCGWINSZ, FIOCLEX, FIONCLEX, FIONBIO, FIONREAD}}};
}

std::vector<sock_filter> call_filter() {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
  };
  const auto answer = [](unsigned value) { return sock_filter{BPF_RET | BPF_K, 0, 0, value}; };
  constexpr unsigned kRefuse = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> filter = {load(offsetof(seccomp_data, arch)),
                                     {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kMachine},
                                     answer(SECCOMP_RET_KILL_PROCESS),
                                     load(offsetof(seccomp_data, nr))};
  const auto allow = [&](long value) {
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(value)});
    filter.push_back(answer(SECCOMP_RET_ALLOW));
  };
  for (const long call : kAllowed) allow(call);
  for (const auto& [call, allowed] : restricted_calls()) {
    const auto length = static_cast<unsigned char>(2 * allowed.size() + 2);
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, length, static_cast<unsigned>(call)});
    // The lower half of the argument, as used by the kernel.
    filter.push_back(load(offsetof(seccomp_data, args) + sizeof(__u64)));
    for (const unsigned value : allowed) allow(value);
    filter.push_back(answer(kRefuse));
  }
  filter.push_back(answer(kRefuse));
  return filter;
}

/// The descriptors of a process, from 0 on. The last one is the filter of system calls, which bwrap
/// reads.
using Descriptors = std::vector<int>;

/// bwrap's arguments for one process that runs `code`.
std::vector<std::string> arguments(const std::string& code, std::size_t filter_descriptor) {
  // Without user namespaces this fails, while --unshare-all would continue without them. /usr
  // belongs to the host's root, who may have started bwrap; it is mounted read-only, and no other
  // files of the host are visible.
  return {"bwrap",
          "--unshare-user",
          "--unshare-ipc",
          "--unshare-pid",
          "--unshare-net",
          "--unshare-uts",
          "--unshare-cgroup-try",
          "--die-with-parent",
          "--new-session",
          "--cap-drop",
          "ALL",
          "--uid",
          "65534",
          "--gid",
          "65534",
          "--clearenv",
          "--setenv",
          "PYTHONHASHSEED",
          "0",
          "--ro-bind",
          "/usr",
          "/usr",
          "--symlink",
          "usr/lib",
          "/lib",
          "--symlink",
          "usr/lib64",
          "/lib64",
          "--remount-ro",
          "/",
          "--chdir",
          "/",
          "--seccomp",
          std::to_string(filter_descriptor),
          "/usr/bin/python3",
          "-s",
          "-S",
          "-c",
          code};
}

[[noreturn]] void die(std::string_view why) {
  [[maybe_unused]] const auto written = ::write(2, why.data(), why.size());
  ::_exit(127);
}

/// Runs in the child between fork and exec, and uses only functions that are safe there. `scratch`
/// has room for as many descriptors.
[[noreturn]] void become_bwrap(const Descriptors& descriptors, int* scratch,
                               const SandboxLimits& limits, char* const* command,
                               char* const* environment) {
  constexpr int kRoom = 32;
  // Moves descriptors out of the way first, then to their numbers, and closes all others.
  for (std::size_t i = 0; i < descriptors.size(); ++i)
    scratch[i] = ::fcntl(descriptors[i], F_DUPFD_CLOEXEC, kRoom);
  for (std::size_t i = 0; i < descriptors.size(); ++i) ::dup2(scratch[i], static_cast<int>(i));
  if (::close_range(static_cast<unsigned>(descriptors.size()), ~0U, 0) != 0)
    die("close_range failed; expected Linux 5.9 or newer\n");
  const auto limit = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    if (::setrlimit(resource, &both) != 0) die("a limit could not be set\n");
  };
  limit(RLIMIT_AS, static_cast<rlim_t>(limits.memory_megabytes) << 20);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.seconds)));
  limit(RLIMIT_FSIZE, 4096);  // bwrap itself writes a little
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_MEMLOCK, 0);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_NOFILE, kRoom);
  ::execvpe("bwrap", command, environment);
  die("bwrap cannot be started; is it installed?\n");
}

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<decltype(left)>(left, 0));
}

/// An isolated process. It is killed at the end, with everything that it started.
class Process {
 public:
  Process(const std::string& code, const Descriptors& descriptors, const SandboxLimits& limits) {
    auto texts = arguments(code, descriptors.size() - 1);
    auto variables = child_environment();  // for bwrap itself; the program gets no environment
    const std::vector<char*> command = pointers(texts), environment = pointers(variables);
    std::vector<int> scratch(descriptors.size());
    child_ = ::fork();
    if (child_ < 0) throw RunError(str("sandbox: no process: ", std::strerror(errno)));
    if (child_ == 0)
      become_bwrap(descriptors, scratch.data(), limits, command.data(), environment.data());
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (child_ > 0) end(Clock::now());
  }

  /// Waits for the process to end until `patience`, then kills it. Returns whether a limit's signal
  /// had ended it.
  bool end(Clock::time_point patience) {
    if (const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0)); handle >= 0) {
      const File closed(handle);
      pollfd ended{handle, POLLIN, 0};
      ::poll(&ended, 1, milliseconds_until(patience));
    }
    ::kill(child_, SIGKILL);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL;  // as reported by bwrap
  }

 private:
  pid_t child_ = -1;
};

/// Text of a program without control characters.
std::string readable(std::string_view text) {
  std::string out = repair_utf8(strip(text));
  for (char& c : out)
    if ((c >= 0 && c < ' ') || c == '\x7f') c = '?';
  return out;
}

/// The last line that is not blank.
std::string last_line(const std::string& text) {
  const std::string_view stripped = strip(text);
  const std::size_t begin = stripped.find_last_of('\n');
  return readable(begin == std::string_view::npos ? stripped : stripped.substr(begin + 1));
}

/// The reading end of a pipe, and the last bytes received.
struct Stream {
  File end;
  std::string text = {};
  bool open = true;
};

/// Reads all streams until those of `until` are closed. Returns false if the time is over first.
bool drain(std::vector<Stream>& streams, const std::vector<std::size_t>& until,
           Clock::time_point deadline) {
  constexpr std::size_t kKept = 8192;
  while (std::any_of(until.begin(), until.end(), [&](std::size_t i) { return streams[i].open; })) {
    const int left = milliseconds_until(deadline);
    if (left == 0) return false;
    std::vector<pollfd> ends;
    for (const Stream& stream : streams)
      ends.push_back({stream.open ? stream.end.get() : -1, POLLIN, 0});
    if (::poll(ends.data(), ends.size(), left) < 0 && errno != EINTR) return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (!streams[i].open || ends[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const auto count = ::read(streams[i].end.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        streams[i].open = false;
        continue;
      }
      std::string& text = streams[i].text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
      if (text.size() > kKept) text.erase(0, text.size() - kKept);
    }
  }
  return true;
}

}  // namespace

std::string_view name(SandboxVerdict verdict) {
  switch (verdict) {
    case SandboxVerdict::passed:
      return "passed";
    case SandboxVerdict::failed:
      return "failed";
    case SandboxVerdict::timeout:
      break;
  }
  return "timeout";
}

PythonSandbox::PythonSandbox(SandboxLimits limits) : limits_(limits) {
  if (!(limits.seconds > 0 && limits.seconds <= 3600) || limits.memory_megabytes < 64)
    throw ConfigError(str("sandbox: ", limits.seconds, " seconds and ", limits.memory_megabytes,
                          " MB, expected above 0 and at most 3600 seconds, and at least 64 MB"));
  if (kMachine == 0)
    throw ConfigError(
        "sandbox: this processor's system calls are not filtered here; expected x86-64 or arm64");
}

SandboxResult PythonSandbox::run(const PythonTask& task) const {
  const std::string questions = dump(Json::array({task.head, task.test}));
  const File program_text = memory_file(task.program.data(), task.program.size());
  const File judge_text = memory_file(questions.data(), questions.size());
  const auto filter = call_filter();
  const File program_filter = memory_file(filter.data(), filter.size() * sizeof(sock_filter));
  const File judge_filter = memory_file(filter.data(), filter.size() * sizeof(sock_filter));
  Pipe calls = make_pipe(), replies = make_pipe(), verdict = make_pipe();
  Pipe program_out = make_pipe(), program_error = make_pipe();
  Pipe judge_out = make_pipe(), judge_error = make_pipe();

  Process program(str(kTransport, kProgramRunner),
                  {program_text.get(), program_out.write.get(), program_error.write.get(),
                   calls.read.get(), replies.write.get(), program_filter.get()},
                  limits_);
  Process judge(str(kTransport, kJudgeRunner),
                {judge_text.get(), judge_out.write.get(), judge_error.write.get(),
                 replies.read.get(), calls.write.get(), verdict.write.get(), judge_filter.get()},
                limits_);
  for (Pipe* pipe : {&calls, &replies}) {
    pipe->read.close();
    pipe->write.close();
  }
  for (Pipe* pipe : {&verdict, &program_out, &program_error, &judge_out, &judge_error})
    pipe->write.close();

  enum : std::size_t { kVerdict, kProgramError, kJudgeError };
  std::vector<Stream> streams;
  for (Pipe* pipe : {&verdict, &program_error, &judge_error, &program_out, &judge_out})
    streams.push_back({std::move(pipe->read)});
  const auto after = [begin = Clock::now()](double seconds) {
    return begin +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const auto deadline = after(3 * limits_.seconds);
  const SandboxResult late{SandboxVerdict::timeout,
                           str("did not end in ", 3 * limits_.seconds, " s")};
  if (!drain(streams, {kVerdict}, deadline)) return late;

  // "started", then the judge's verdict and a reason.
  const std::string& said = streams[kVerdict].text;
  constexpr std::string_view kStarted = "started\n";
  const bool started = said.starts_with(kStarted);
  const std::string end = started ? said.substr(kStarted.size()) : "";
  const std::string word = end.substr(0, end.find(' '));
  const std::string reason = readable(std::string_view(end).substr(word.size()));
  // Both now end by themselves, so that init inherits no remaining processes.
  const auto soon = [&] { return std::min(deadline, Clock::now() + std::chrono::seconds(1)); };
  if (word == "passed" || word == "failed") {
    judge.end(soon());
    program.end(soon());
  }
  if (word == "passed") return {SandboxVerdict::passed, ""};
  if (word == "failed") return {SandboxVerdict::failed, reason};
  if (word == "task") throw ConfigError(str("sandbox: the tests cannot be run: ", reason));

  // One of the two ended without a verdict; its stderr is the only information.
  const bool judge_left = word != "gone" && word != "unready";
  Process& left = judge_left ? judge : program;
  const std::size_t error = judge_left ? kJudgeError : kProgramError;
  if (!drain(streams, {error}, deadline)) return late;
  const bool killed = left.end(soon());
  const std::string last = last_line(streams[error].text);
  if (!started || word == "unready")
    throw ConfigError(str("sandbox: no isolated process: ", last,
                          "; expected bwrap (Debian package bubblewrap), /usr/bin/python3, and a "
                          "kernel that lets this user make namespaces. Programs are never run "
                          "without them"));
  if (killed && Clock::now() >= after(std::ceil(limits_.seconds)))
    return {SandboxVerdict::timeout,
            str("took more than ", std::ceil(limits_.seconds), " s of processor time")};
  return {SandboxVerdict::failed, last.empty() ? "left before its end" : last};
}

}  // namespace pardec
