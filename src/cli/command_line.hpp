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

/// The meaning of the exit codes, as text for the help and the manual page.
inline constexpr const char* kExitCodes =
    "0 success, 1 the run failed, 2 wrong usage or input, 3 finished, but examples failed (or "
    "there is a warning and --strict is set), 4 a verdict of reproduce differs from the expected "
    "one, 130 stopped by Ctrl-C (all results so far are stored).";

/// Names of a verb's flags (with dashes, e.g. "--out") and positional arguments (e.g. "folder")
/// whose values are paths of outputs. `files`: the values are output files. `folders`: the values
/// are folders for new checkpoints. check_written uses these names to check that no output
/// overwrites an input.
struct Written {
  std::vector<std::string> files = {}, folders = {};
};

/// One verb of `pardec`.
struct Verb {
  std::string name, summary;  ///< `summary`: one line for the help
  /// shell commands for the help, one in each line; each line after the first begins with two
  /// spaces
  std::string example;
  /// Declares the verb's flags on the app, and returns a function that runs the verb. This function
  /// is called after the command line was parsed, while the app still exists, and returns the exit
  /// code.
  std::function<std::function<int()>(CLI::App&)> add;
  /// The words that may be the first argument of the verb and select what it does, e.g. `export` in
  /// `pardec judge export`. Empty: the verb has no actions.
  std::vector<std::string> actions = {};
  Written written = {};
  /// Names of flags, e.g. "--model", that environment variables cannot set, because these flags
  /// have another meaning in other verbs, or confirm an action.
  std::vector<std::string> without_variable = {};
  /// Whether mpirun may start several processes of this verb. If false, and mpirun started several
  /// processes, run_command_line throws a ConfigError in each of them.
  bool several_processes = false;
};

/// The name of an option group (CLI::Option::group) for flags that only the given actions of a verb
/// use. The help of an action (`pardec VERB ACTION --help`) leaves out the flags of other actions.
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

/// Parses and runs one command line, and returns the exit code of its verb. Without a verb, or with
/// --help or --version, the function prints a text to stdout, and returns 0. The value of a setting
/// comes from the first of these sources that has the setting: flags, environment variables (e.g.
/// PARDEC_BATCH_SIZE for --batch-size), the `-c` file, defaults. ConfigError: the command line is
/// invalid, an output would overwrite an input (check_written), or mpirun started several processes
/// of a verb that does not allow this. StoreError: a database has JSON of an unexpected type. The
/// verb's own errors pass through. The caller converts an Error to an exit code (Error::exit_code).
int run_command_line(const std::vector<Verb>& verbs, int argc, char** argv);

/// Checks that the running verb overwrites none of its inputs, including the inputs that an
/// experiment file names. A verb that reads an experiment file calls this, because run_command_line
/// checks only the command line. `config`: the content of the experiment file (`-c`). ConfigError:
/// see check_written (written_files.hpp). REQUIRES: `app` is the app that run_command_line passed
/// to Verb::add.
void check_experiment(const CLI::App& app, const Json& config);

/// The command line as given, starting with the program's name, for the record of a run. REQUIRES:
/// `app` is the app that run_command_line passed to Verb::add.
const std::vector<std::string>& command_arguments(const CLI::App& app);

}  // namespace pardec
