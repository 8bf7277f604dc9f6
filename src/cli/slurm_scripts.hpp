#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Scripts for the scheduler Slurm.
namespace pardec {

/// A job array of Slurm with N tasks. Task I, counted from 0, runs pardec with `--shard I/N`, and
/// stores the results in its own database, DB.part-I.
struct SlurmArray {
  std::string verb;     ///< `sweep` or `reproduce`
  std::string program;  ///< path of pardec
  /// arguments of pardec in each task: verb and flags, without --db and --shard
  std::vector<std::string> arguments;
  /// arguments with which pardec shows the merged results: verb and flags, without --db
  std::vector<std::string> shown_by;
  std::filesystem::path folder;  ///< the tasks' working directory
  std::filesystem::path script;  ///< file of the array's script
  std::string db;                ///< database for the merged results
  int tasks = 1;
  int threads = 1;                 ///< CPU cores of a task
  bool gpu = false;                ///< whether a task needs a GPU
  double task_seconds = 0;         ///< expected time of a task, in seconds
  std::int64_t bytes = 0;          ///< expected memory of a task, in bytes; 0: not known
  std::vector<std::string> about;  ///< comments of the array's script, line by line
};

/// Removes the flags `names`, e.g. "--db", and their values ("--db VALUE" and "--db=VALUE") from
/// command-line arguments. REQUIRES: each of these flags has a value.
std::vector<std::string> without(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& names);

/// The text of the array's script. The time limit is 1.5 times the expected time of a task plus
/// three minutes. The memory limit is 1.25 times the expected memory; if the expected memory is not
/// known, there is no limit. One minute before the time limit, the script sends SIGTERM to pardec,
/// waits until pardec has finished its running jobs, and queues the task again. The task then
/// continues with the answers that its database lacks. A task fails if pardec fails, except with
/// the exit codes 3 (answers failed) and 4 (an unexpected verdict), which concern results.
std::string array_script(const SlurmArray& array);

/// The text of the script of a job that merges the tasks' databases into array.db, and shows the
/// merged results (array.shown_by).
std::string merge_script(const SlurmArray& array);
/// The path for the merge script: FILE.merge.sbatch if array.script is FILE.sbatch.
std::filesystem::path merge_script_file(const SlurmArray& array);

/// Checks the settings `slurm` and `slurm_tasks`, and returns the number of tasks of the array.
/// `script`: value of `slurm`, the path for the array's script; empty: there is no array, and the
/// function returns 1. `tasks`: value of `slurm_tasks`; none: 8. ConfigError: `tasks` is set
/// without `script`, or is less than 1; the name of `script` does not end in .sbatch; or mpirun
/// started several processes, each of which would write the script.
int checked_slurm_tasks(const std::string& script, const std::optional<int>& tasks);

/// Writes both scripts to their files, and prints to stderr the commands that submit the scripts.
/// RunError: a file cannot be written.
void write_scripts(const SlurmArray& array);

/// The two shell commands, one in each line, that submit both scripts.
std::string submit_commands(const SlurmArray& array);

}  // namespace pardec
