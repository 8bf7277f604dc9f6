#include "src/sandbox/python_sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Reads a secret and the program from stdin, runs the program, and says the secret at its end.
constexpr const char* kRunner = R"(
import os, sys
def run():
    data = os.read(0, 32)
    source = sys.stdin.buffer.read()
    exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
    os.write(3, data)
run()
)";

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

/// A file in memory that holds `content`, to be read from its beginning.
File memory_file(const void* content, std::size_t size) {
  File file(::memfd_create("pardec", MFD_CLOEXEC));
  const auto* bytes = static_cast<const char*>(content);
  for (std::size_t written = 0; written < size;) {
    const auto count = ::write(file.get(), bytes + written, size - written);
    if (count <= 0) throw RunError(str("sandbox: ", std::strerror(errno)));
    written += static_cast<std::size_t>(count);
  }
  ::lseek(file.get(), 0, SEEK_SET);
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

/// Calls that make processes or threads, open the network, or hold memory that no limit counts.
std::vector<sock_filter> call_filter() {
  const std::vector<unsigned> refused = {
#ifdef SYS_fork
      SYS_fork,       SYS_vfork,
#endif
      SYS_clone,      SYS_clone3,       SYS_socket,
      SYS_socketpair, SYS_memfd_create, SYS_io_uring_setup,
      SYS_ptrace,     SYS_unshare,      SYS_setns,
      SYS_mount,      SYS_bpf,          SYS_userfaultfd,
      SYS_keyctl,     SYS_add_key,      SYS_perf_event_open,
      SYS_shmget,     SYS_mq_open};
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<unsigned>(offset)};
  };
  const auto answer = [](unsigned value) { return sock_filter{BPF_RET | BPF_K, 0, 0, value}; };
  constexpr unsigned kRefuse = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> filter = {load(offsetof(seccomp_data, arch)),
                                     {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kMachine},
                                     answer(SECCOMP_RET_KILL_PROCESS),
                                     load(offsetof(seccomp_data, nr)),
                                     // x86-64's second table of calls
                                     {BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000},
                                     answer(kRefuse)};
  for (const unsigned call : refused) {
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call});
    filter.push_back(answer(kRefuse));
  }
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  return filter;
}

std::string make_secret() {
  std::random_device device;
  std::string secret;
  while (secret.size() < 32) secret += "0123456789abcdef"[device() % 16];
  return secret;
}

/// bwrap's arguments; descriptor 4 has the filter.
std::vector<const char*> arguments() {
  return {"bwrap",
          "--unshare-all",
          "--die-with-parent",
          "--new-session",
          "--clearenv",
          "--uid",
          "65534",
          "--gid",
          "65534",
          "--ro-bind",
          "/usr",
          "/usr",
          "--symlink",
          "usr/lib",
          "/lib",
          "--symlink",
          "usr/lib64",
          "/lib64",
          "--dev-bind",
          "/dev/null",
          "/dev/null",
          "--remount-ro",
          "/",
          "--chdir",
          "/",
          "--seccomp",
          "4",
          "/usr/bin/python3",
          "-I",
          "-S",
          "-c",
          kRunner,
          nullptr};
}

/// In the child between fork and exec: only calls that are safe there.
[[noreturn]] void become_bwrap(const std::array<int, 5>& descriptors, const SandboxLimits& limits,
                               const char* const* arguments) {
  // First out of the way of 0 to 4, then to their places.
  std::array<int, 5> high{};
  for (std::size_t i = 0; i < high.size(); ++i)
    high[i] = ::fcntl(descriptors[i], F_DUPFD_CLOEXEC, 10);
  for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], static_cast<int>(i));
  const auto limit = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    ::setrlimit(resource, &both);
  };
  limit(RLIMIT_AS, static_cast<rlim_t>(limits.memory_megabytes) << 20);
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.seconds) + 1);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 64);
  ::execvp("bwrap", const_cast<char* const*>(arguments));
  constexpr std::string_view kMissing = "bwrap cannot be started; is it installed?\n";
  [[maybe_unused]] const auto written = ::write(2, kMissing.data(), kMissing.size());
  ::_exit(127);
}

/// The last line with text in it.
std::string last_line(const std::string& text) {
  const std::string_view stripped = strip(text);
  const std::size_t begin = stripped.find_last_of('\n');
  return repair_utf8(begin == std::string_view::npos ? stripped : stripped.substr(begin + 1));
}

/// Reads both ends until they are closed or the time is over; keeps the end of each.
bool drain(File& error, File& verdict, std::string& error_text, std::string& verdict_text,
           double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kKept = 4096;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::array<pollfd, 2> ends{{{error.get(), POLLIN, 0}, {verdict.get(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&error_text, &verdict_text};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    if (::poll(ends.data(), ends.size(), static_cast<int>(left)) < 0 && errno != EINTR)
      return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const auto count = ::read(ends[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {
        ends[i].fd = -1;
        continue;
      }
      texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      if (texts[i]->size() > kKept) texts[i]->erase(0, texts[i]->size() - kKept);
    }
  }
  return true;
}

}  // namespace

std::string_view name(Verdict verdict) {
  return verdict == Verdict::passed ? "passed" : verdict == Verdict::failed ? "failed" : "timeout";
}

PythonSandbox::PythonSandbox(SandboxLimits limits) : limits_(limits) {
  if (!(limits.seconds > 0 && limits.seconds <= 3600) || limits.memory_megabytes < 64)
    throw ConfigError(str("sandbox: ", limits.seconds, " seconds and ", limits.memory_megabytes,
                          " MB, expected above 0 and at most 3600 seconds, and at least 64 MB"));
  if (kMachine == 0)
    throw ConfigError(
        "sandbox: this processor's system calls are not filtered here; expected x86-64 or arm64");
  if (const SandboxResult probe = run(""); probe.verdict != Verdict::passed)
    throw ConfigError(str("sandbox: an empty program did not pass: ", probe.reason,
                          "; expected bwrap (Debian package bubblewrap), /usr/bin/python3, and a "
                          "kernel that lets this user make namespaces. Programs are never run "
                          "without them"));
}

SandboxResult PythonSandbox::run(const std::string& program) const {
  const std::string secret = make_secret();
  const std::string input = secret + program;
  const File stdin_file = memory_file(input.data(), input.size());
  const auto filter = call_filter();
  const File filter_file = memory_file(filter.data(), filter.size() * sizeof(sock_filter));
  const File nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Pipe error = make_pipe(), verdict = make_pipe();
  const auto command = arguments();

  const pid_t child = ::fork();
  if (child < 0) throw RunError(str("sandbox: no process: ", std::strerror(errno)));
  if (child == 0)
    become_bwrap({stdin_file.get(), nowhere.get(), error.write.get(), verdict.write.get(),
                  filter_file.get()},
                 limits_, command.data());
  error.write.close();
  verdict.write.close();
  std::string said, end;
  const bool in_time = drain(error.read, verdict.read, said, end, limits_.seconds);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return {Verdict::timeout, str("did not end in ", limits_.seconds, " s")};
  if (status == 0 && end == secret) return {Verdict::passed, ""};
  const std::string reason = last_line(said);
  return {Verdict::failed, !reason.empty() ? reason
                           : status == 0   ? "left before its end"
                                           : "was ended by a signal or left with an error"};
}

}  // namespace pardec
