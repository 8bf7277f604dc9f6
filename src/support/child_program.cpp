#include "src/support/child_program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

extern char** environ;

namespace pardec {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file without a name, gone when it is closed.
File nameless() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) throw RunError(str("no temporary file can be made: ", std::strerror(errno)));
  return file;
}

std::string content(std::FILE* file) {
  std::string out;
  std::rewind(file);
  char buffer[1 << 16];
  std::size_t got;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0) out.append(buffer, got);
  return out;
}

}  // namespace

ChildRun run_child(std::vector<std::string> arguments, const std::string& input) {
  const File in = nameless(), out = nameless(), complaint = nameless();
  if (std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() ||
      std::fflush(in.get()) != 0)
    throw RunError(
        str("what ", arguments.front(), " is to read cannot be written: ", std::strerror(errno)));
  std::rewind(in.get());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), 1);
  posix_spawn_file_actions_adddup2(&actions, fileno(complaint.get()), 2);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ChildRun run;
  pid_t child = 0;
  run.error = posix_spawnp(&child, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (run.error != 0) return run;
  while (waitpid(child, &run.status, 0) < 0 && errno == EINTR) {
  }
  run.out = content(out.get());
  run.complaint = content(complaint.get());
  return run;
}

}  // namespace pardec
