#pragma once
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>

namespace pardec::test {

/// Runs `work` in a child process, and returns the child's process id. The child exits with 0 if
/// `work` returns, and with 1 if it throws. `work` must not use Catch assertions.
inline pid_t start(const std::function<void()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    work();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    _exit(1);
  }
  _exit(0);
}

/// Waits for a child. Returns the child's exit status, or -N if signal N ended the child.
inline int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// Mounts a tmpfs at `folder`, which only this process sees. The destructor unmounts it. `made` is
/// false if the machine does not allow mounts. `options`: options of the tmpfs, e.g. its size.
class Mount {
 public:
  Mount(const std::filesystem::path& folder, const char* options) : folder_(folder) {
    std::filesystem::create_directories(folder);
    made = unshare(CLONE_NEWNS) == 0 &&
           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0;
    if (!made) std::puts("note: no mount allowed here, that half of the test did not run");
  }
  ~Mount() {
    if (made) umount2(folder_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  /// Returns whether the mount is now read-only.
  bool make_read_only() {
    return mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

  bool made = false;

 private:
  std::filesystem::path folder_;
};

}  // namespace pardec::test
