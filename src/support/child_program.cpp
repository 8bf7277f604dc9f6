#include "src/support/child_program.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

extern char** environ;

namespace pardec {

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A file without a name, which disappears when closed.
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

std::vector<std::string> child_environment() {
  constexpr std::array<std::string_view, 10> kNames = {
      "PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "TZ", "LANGUAGE", "TERM", "GDFONTPATH"};
  constexpr std::array<std::string_view, 7> kFamilies = {"LC_",     "LD_",        "XDG_", "PYTHON",
                                                         "GNUPLOT", "FONTCONFIG", "OMP_"};
  std::vector<std::string> kept;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry, name = text.substr(0, text.find('='));
    const bool known =
        std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
        std::any_of(kFamilies.begin(), kFamilies.end(),
                    [&](std::string_view family) { return name.starts_with(family); });
    if (known) kept.emplace_back(text);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

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
  std::vector<std::string> environment = child_environment();
  ChildRun run;
  pid_t child = 0;
  run.error = posix_spawnp(&child, arguments.front().c_str(), &actions, nullptr,
                           pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (run.error != 0) return run;
  while (waitpid(child, &run.status, 0) < 0)
    if (errno != EINTR)  // e.g. ECHILD: the caller's parent ignores SIGCHLD
      throw RunError(
          str("the exit status of ", arguments.front(), " is not known: ", std::strerror(errno)));
  run.out = content(out.get());
  run.complaint = content(complaint.get());
  return run;
}

std::string project_python() {
  try {
    return project_file(".venv/bin/python").string();
  } catch (const ConfigError&) {
    return "python3";
  }
}

}  // namespace pardec
