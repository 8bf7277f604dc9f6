#include "src/cli/slurm_scripts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/launch.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr double kLoadSeconds = 120;  // to load the networks and data
constexpr int kSignalSeconds = 60;    // before its time limit, a task is told to stop
constexpr double kMargin = 1.5;       // of time limits over expected times
constexpr double kMemoryMargin = 1.25;

/// A word of the shell with this value.
std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=/.,:@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  return str("'", replace_all(text, "'", "'\\''"), "'");
}

std::string command(const SlurmArray& array, const std::vector<std::string>& arguments) {
  std::string line = shell_word(array.program);
  for (const std::string& argument : arguments) line += " " + shell_word(argument);
  return line;
}

/// The common beginning of both scripts.
std::string head(const SlurmArray& array, const std::string& name, std::int64_t minutes,
                 std::int64_t megabytes) {
  std::string head =
      str("#SBATCH --job-name=", name, "\n#SBATCH --chdir=", shell_word(array.folder.string()),
          "\n#SBATCH --time=", minutes, "\n");
  if (megabytes > 0) head += str("#SBATCH --mem=", megabytes, "M\n");
  return head;
}

/// The settings that this command has from the environment, without those of the array, so that
/// the tasks have them wherever the script is submitted.
std::string environment() {
  std::string lines =
      "unset PARDEC_SLURM PARDEC_SLURM_TASKS PARDEC_DRY_RUN PARDEC_DB PARDEC_SHARD\n";
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable, name = text.substr(0, text.find('='));
    if (name.starts_with("PARDEC_") && lines.find(" " + name) == std::string::npos)
      lines += str("export ", name, "=", shell_word(text.substr(name.size() + 1)), "\n");
  }
  return lines;
}

std::string log_file(const SlurmArray& array, const char* number) {
  return shell_word(std::filesystem::path(array.script).replace_extension().string() + "-" +
                    number + ".log");
}

}  // namespace

std::vector<std::string> without(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> left;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end())
      left.push_back(argument);
    else if (name == argument)
      ++i;  // its value
  }
  return left;
}

std::string array_script(const SlurmArray& array) {
  const auto minutes = static_cast<std::int64_t>(
      std::ceil((array.task_seconds * kMargin + kLoadSeconds + kSignalSeconds) / 60));
  const auto megabytes = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(array.bytes) * kMemoryMargin / (1 << 20)));
  std::string script =
      str("#!/bin/bash\n# Written by `pardec ", array.verb, " --slurm`, with ",
          counted(array.tasks, "task"), ". Each stores its results in\n# ", array.db,
          ".part-N. A task that reaches the time limit stops after its running\n# jobs, is queued "
          "again, and continues.\n# Submit both scripts:\n");
  for (const std::string& line : split(submit_commands(array), '\n'))
    script += "#   " + line + "\n";
  for (const std::string& line : array.about) script += "# " + line + "\n";
  script += head(array, "pardec-" + array.verb, minutes, megabytes);
  script += str("#SBATCH --array=0-", array.tasks - 1, "\n#SBATCH --cpus-per-task=", array.threads,
                array.gpu ? "\n#SBATCH --gpus=1" : "", "\n#SBATCH --signal=B:TERM@", kSignalSeconds,
                "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=",
                log_file(array, "%A_%a"), "\n\n");
  script +=
      "stop() {\n"
      "  kill -TERM \"$run\"\n"
      "  wait \"$run\"\n"
      "  scontrol requeue \"$SLURM_JOB_ID\"\n"
      "  sleep 60  # Slurm ends this script\n"
      "}\n"
      "trap stop TERM\n";
  script += environment();
  script += str(command(array, array.arguments), " --db ", shell_word(array.db),
                ".part-\"$SLURM_ARRAY_TASK_ID\" --shard \"$SLURM_ARRAY_TASK_ID\"/", array.tasks,
                " &\nrun=$!\nwait \"$run\"\ncode=$?\n"
                "case $code in 3 | 4) ;; *) exit \"$code\" ;; esac\n");
  return script;
}

std::string merge_script(const SlurmArray& array) {
  const std::string db = shell_word(array.db);
  return str("#!/bin/bash\n# Merges the results of the array ", array.script.filename().string(),
             ".\n", head(array, "pardec-merge", 60, 2048),
             "#SBATCH --output=", log_file(array, "merge-%j"), "\n\n", environment(),
             "parts=()  # a task without work makes no database\nfor part in {0..", array.tasks - 1,
             "}; do [ ! -e ", db, ".part-\"$part\" ] || parts+=(", db, ".part-\"$part\"); done\n",
             command(array, {"merge"}), " ", db, " \"${parts[@]}\" && ",
             command(array, array.shown_by), " --db ", db, "\n");
}

std::filesystem::path merge_script_file(const SlurmArray& array) {
  return std::filesystem::path(array.script).replace_extension(".merge.sbatch");
}

int checked_slurm_tasks(const std::string& script, const std::optional<int>& tasks) {
  if (script.empty()) {
    if (tasks)
      throw ConfigError("`slurm_tasks` divides the array of `slurm`; expected `slurm` with it");
    return 1;
  }
  if (!script.ends_with(".sbatch"))
    throw ConfigError(str("`slurm` is '", script, "', expected the name of a script, *.sbatch"));
  if (const Launch started = launch(); started.size > 1)
    throw ConfigError(str("`slurm` only writes scripts, but ", started.size,
                          " processes were started; start one"));
  if (tasks) check_at_least("slurm_tasks", *tasks, 1);
  return tasks.value_or(8);
}

void write_scripts(const SlurmArray& array) {
  if (const auto folder = std::filesystem::path(array.db).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder);
  write_file(array.script, array_script(array));
  write_file(merge_script_file(array), merge_script(array));
  std::fprintf(stderr, "%s\n", submit_commands(array).c_str());
}

std::string submit_commands(const SlurmArray& array) {
  return str("array=$(sbatch --parsable ", shell_word(array.script.string()),
             ")\nsbatch --dependency=afterok:$array ",
             shell_word(merge_script_file(array).string()));
}

}  // namespace pardec
