#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Scripts for the scheduler Slurm.
namespace pardec {

/// A sweep as a job array of Slurm. Task I of N runs every N-th block, beginning with block I, with
/// all cells, and stores the results in its own database, DB.part-I.
struct SlurmArray {
  std::string program;                 ///< path of pardec
  std::vector<std::string> arguments;  ///< of pardec, without `db` and `shard`
  std::filesystem::path folder;        ///< the tasks' working directory
  std::filesystem::path script;        ///< file of the array's script
  std::string db;                      ///< database for the merged results
  int tasks = 1;
  int threads = 1;                 ///< CPU cores of a task
  bool gpu = false;                ///< whether a task needs a GPU
  double seconds = 0;              ///< expected time of all tasks together
  std::int64_t bytes = 0;          ///< expected memory of a task
  std::vector<std::string> cells;  ///< for each cell a line with its expected time and memory
};

/// Removes `names` and their values from command-line arguments: "--name VALUE" and "--name=VALUE".
/// `flags`: names that have no value.
std::vector<std::string> without(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& names,
                                 const std::vector<std::string>& flags);

/// The array's script. A task that reaches Slurm's time limit stops after its running jobs and is
/// queued again; it then continues with what its database lacks. A task ends with an error if
/// pardec does, except for exit code 3 (answers failed), which the merged table reports.
std::string array_script(const SlurmArray& array);

/// The script of a job that merges the tasks' databases into `db`, and prints the comparison.
std::string merge_script(const SlurmArray& array);
/// The file of this script: FILE.merge.sbatch for an array's script FILE.sbatch.
std::filesystem::path merge_script_file(const SlurmArray& array);

/// The shell commands that submit both scripts.
std::string submit_commands(const SlurmArray& array);

}  // namespace pardec
