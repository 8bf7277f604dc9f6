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

/// The flags (or positional arguments) of a verb that name what it writes: files, and folders that
/// get checkpoints. None of that may be what it reads.
struct Written {
  std::vector<std::string> files = {}, folders = {};
};

/// One verb of `pardec`: `add` declares its flags on an app of its own and returns what runs it (an
/// exit code). Where it has actions, the first positional of its app names one.
struct Verb {
  std::string name, summary, example;
  std::function<std::function<int()>(CLI::App&)> add;
  std::vector<std::string> actions = {};
  Written written = {};
  /// Flags that mean something else here than in other verbs, or confirm: no environment variable
  /// sets them.
  std::vector<std::string> without_variable = {};
};

/// The group of a flag that only these actions of a verb take, for CLI::Option::group.
/// `pardec VERB ACTION --help` leaves out those of other actions.
std::string flags_of(const std::vector<std::string>& actions);

Verb run_verb();
Verb sweep_verb();
Verb generate_verb();
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

/// Parses and runs one command line. A flag beats its environment variable (PARDEC_ and its name in
/// capitals), that beats the `-c` file, that beats the default. Throws Error; the caller turns it
/// into an exit code.
int run_command_line(const std::vector<Verb>& verbs, int argc, char** argv);

/// As check_written says, with the object of -c. REQUIRES: the app of a verb that runs.
void check_experiment(const CLI::App& app, const Json& config);

/// The arguments as they were given, the program first, for the run's record. REQUIRES: the app of
/// a verb that runs.
const std::vector<std::string>& command_arguments(const CLI::App& app);

}  // namespace pardec
