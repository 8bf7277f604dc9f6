#pragma once
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

/// Meaning of the exit codes, for the help and the manual page.
inline constexpr const char* kExitCodes =
    "0 success, 1 the run failed, 2 wrong usage or input, 3 finished, but samples failed (or there "
    "is a warning and --strict is set), 4 a verdict of reproduce differs from the expected one, "
    "130 stopped by Ctrl-C (all results so far are stored).";

/// The flags (or positional arguments) of a verb for its output: files, and folders for
/// checkpoints. Output must not overwrite input.
struct Written {
  std::vector<std::string> files = {}, folders = {};
};

/// One verb of `pardec`. `add` declares its flags on the verb's app, and returns the function that
/// runs it and returns an exit code. If the verb has actions, the first positional argument names
/// one.
struct Verb {
  std::string name, summary, example;
  std::function<std::function<int()>(CLI::App&)> add;
  std::vector<std::string> actions = {};
  Written written = {};
  /// Flags that cannot be set by an environment variable, since they have another meaning in other
  /// verbs, or confirm an action.
  std::vector<std::string> without_variable = {};
};

/// The group of flags that only these actions of a verb accept, for CLI::Option::group. `pardec
/// VERB ACTION --help` leaves out flags of other actions.
std::string flags_of(const std::vector<std::string>& actions);

Verb run_verb();
Verb sweep_verb();
Verb generate_verb();
Verb serve_verb();
Verb compare_verb();
Verb score_verb();
Verb judge_verb();
Verb report_verb();
Verb plot_verb();
Verb merge_verb();
Verb reproduce_verb();
Verb export_verb();
Verb runs_verb();
Verb roofline_verb();
Verb data_verb();
Verb model_verb();
Verb train_verb();
Verb doctor_verb();
Verb list_verb();

/// Parses and runs one command line. Precedence: flags, then environment variables (PARDEC_ and the
/// flag's name in capitals), then the `-c` file, then defaults. Throws Error; the caller converts
/// it to an exit code.
int run_command_line(const std::vector<Verb>& verbs, int argc, char** argv);

/// As check_written, with the object of -c. REQUIRES: `app` is of a verb that is running.
void check_experiment(const CLI::App& app, const Json& config);

/// The arguments as given, starting with the program, for the record of a run. REQUIRES: `app` is
/// of a verb that is running.
const std::vector<std::string>& command_arguments(const CLI::App& app);

}  // namespace pardec
