#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Scripts for the scheduler Slurm.
namespace pardec {

/// A job array of Slurm. Task I of N runs pardec with `--shard I/N`, and stores the results in its
/// own database, DB.part-I.
struct SlurmArray {
  std::string verb;                    ///< `sweep` or `reproduce`
  std::string program;                 ///< path of pardec
  std::vector<std::string> arguments;  ///< of pardec: verb and flags, without --db and --shard
  std::vector<std::string> shown_by;   ///< arguments of the call that shows the merged results
  std::filesystem::path folder;        ///< the tasks' working directory
  std::filesystem::path script;        ///< file of the array's script
  std::string db;                      ///< database for the merged results
  int tasks = 1;
  int threads = 1;                 ///< CPU cores of a task
  bool gpu = false;                ///< whether a task needs a GPU
  double task_seconds = 0;         ///< expected time of a task
  std::int64_t bytes = 0;          ///< expected memory of a task; 0: not known
  std::vector<std::string> about;  ///< comments of the array's script, line by line
};

/// Removes `names` and their values from command-line arguments: "--name VALUE" and "--name=VALUE".
/// `flags`: names that have no value.
std::vector<std::string> without(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& names,
                                 const std::vector<std::string>& flags);

/// The array's script. A task that reaches Slurm's time limit stops after its running jobs and is
/// queued again; it then continues with what its database lacks. A task ends with an error if
/// pardec does, except for the exit codes 3 (answers failed) and 4 (an unexpected verdict), which
/// concern results.
std::string array_script(const SlurmArray& array);

/// The script of a job that merges the tasks' databases into `db`, and shows the results.
std::string merge_script(const SlurmArray& array);
/// The file of this script: FILE.merge.sbatch for an array's script FILE.sbatch.
std::filesystem::path merge_script_file(const SlurmArray& array);

/// The number of tasks of an array, from the flags `slurm` (file of its script) and `slurm_tasks`
/// (8 if empty). ConfigError: there are tasks without a script, its name is not *.sbatch, there are
/// no tasks, or several processes were started, which would each write the script.
int checked_slurm_tasks(const std::string& script, const std::optional<int>& tasks);

/// Writes both scripts, and prints the commands that submit them on stderr. RunError: a file cannot
/// be written.
void write_scripts(const SlurmArray& array);

/// The shell commands that submit both scripts.
std::string submit_commands(const SlurmArray& array);

}  // namespace pardec
