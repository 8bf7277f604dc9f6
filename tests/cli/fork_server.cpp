// Runs the program many times in one process tree. Each call is a fork, so that libtorch, which
// takes .28 s of CPU time to start, is loaded once for each test. Reads one call on each line of
// stdin (JSON: arguments, folder, environment, and the files for stdout and stderr), and answers
// with a line: the exit code, or minus the signal, as in Python's subprocess.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "src/cli/program.hpp"
#include "src/support/json.hpp"

namespace {

void open_as(int descriptor, const char* file, int flags) {
  const int opened = ::open(file, flags, 0600);
  if (opened == -1 || ::dup2(opened, descriptor) == -1) std::_Exit(70);
  ::close(opened);
}

/// What `execve` would give to the program: its folder, environment and three streams.
void become(const pardec::Json& call) {
  if (::chdir(call.at("folder").get<std::string>().c_str()) != 0) std::_Exit(70);
  ::clearenv();
  for (const auto& [name, value] : call.at("environment").items())
    ::setenv(name.c_str(), value.get<std::string>().c_str(), 1);
  open_as(STDIN_FILENO, "/dev/null", O_RDONLY);
  open_as(STDOUT_FILENO, call.at("stdout").get<std::string>().c_str(), O_WRONLY | O_APPEND);
  open_as(STDERR_FILENO, call.at("stderr").get<std::string>().c_str(), O_WRONLY | O_APPEND);
}

[[noreturn]] void run(const pardec::Json& call) {
  become(call);
  auto arguments = call.at("arguments").get<std::vector<std::string>>();
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pardec::run_program_and_leave(static_cast<int>(arguments.size()), argv.data());
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto call = pardec::Json::parse(line);
    const pid_t child = ::fork();
    if (child == 0) run(call);
    int status = 0;
    if (child == -1 || ::waitpid(child, &status, 0) != child) return 70;
    std::cout << (WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status)) << std::endl;
  }
}
