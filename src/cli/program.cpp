#include "src/cli/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

#include "src/cli/command_line.hpp"
#include "src/cli/completion.hpp"
#include "src/cli/visible_output.hpp"
#include "src/cli/with_flags.hpp"
#include "src/support/error.hpp"
#include "src/support/launch.hpp"
#include "src/support/text.hpp"

namespace {

/// Replaces standard streams that are closed by ones that fail, so that no file opened later gets
/// their number and their output.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// The exit code after a verb ended with `code`: 1 instead of 0 if its output could not be written,
/// e.g. to a full disk.
int after_printing(int code) {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good();
  if (arrived) return code;
  std::fprintf(stderr, "pardec: what was printed could not all be written to stdout%s%s\n",
               errno ? ": " : "", errno ? std::strerror(errno) : "");
  return code ? code : 1;
}

/// Prints an error to stderr. Ranks above 0 first wait, since most errors of flags and files occur
/// in all ranks: when rank 0 ends with the same error, mpirun ends the other ranks.
void print_error(const std::string& what) {
  const int rank = pardec::launch().rank;
  if (rank > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  std::fprintf(stderr, "pardec: %s%s\n", rank > 0 ? pardec::str("rank ", rank, ": ").c_str() : "",
               pardec::visible_text(pardec::with_flags(what)).c_str());
}

}  // namespace

std::vector<pardec::Verb> pardec::all_verbs() {
  std::vector<Verb> verbs{run_verb(),    sweep_verb(),    reproduce_verb(), generate_verb(),
                          serve_verb(),  compare_verb(),  score_verb(),     judge_verb(),
                          report_verb(), plot_verb(),     merge_verb(),     export_verb(),
                          runs_verb(),   roofline_verb(), data_verb(),      model_verb(),
                          train_verb(),  list_verb(),     doctor_verb()};
  verbs.push_back(completion_verb(verbs));
  return verbs;
}

int pardec::run_program(int argc, char** argv) {
  hold_standard_streams();
  const VisibleOutput visible;
  try {
    return after_printing(run_command_line(all_verbs(), argc, argv));
  } catch (const Error& error) {
    print_error(error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    print_error(reason_of(error));
    return 1;
  }
}

void pardec::run_program_and_leave(int argc, char** argv) {
  const int code = run_program(argc, argv);
  std::cout.flush();
  std::fflush(nullptr);
#if defined(__SANITIZE_ADDRESS__)
  std::exit(code);  // checks for leaks
#else
  std::_Exit(code);
#endif
}
