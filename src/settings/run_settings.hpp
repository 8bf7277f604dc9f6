#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/runs/grid.hpp"
#include "src/runs/run_spec.hpp"
#include "src/settings/setting.hpp"
#include "src/settings/shared_settings.hpp"

/// The settings of a run or sweep as plain values. They come from an experiment file (JSON), from
/// flags, or from a program. make_run_spec converts them to a RunSpec.
namespace pardec {

/// The settings of the output and of the exit code of a run or sweep.
struct OutputSettings {
  std::string format = "text";        ///< format of the table (parse_table_format)
  ColumnChoice columns;               ///< columns of the table
  std::vector<std::string> hardware;  ///< for `run`: machines for the roofline; see read_hardware
  /// The exit code is 3 if the share of failed answers is above this number, from 0 to 1.
  double fail_on_error = 0;
  /// For `run`: file with the description of a service that judges the answers
  /// (chat::read_service); empty: none.
  std::string judge;
  /// dry_run: only the plan is printed. matrix: the table has one row for each arm and one column
  /// for each dataset. strict: the exit code is 3 if the table has a warning.
  bool dry_run = false, matrix = false, strict = false;
  /// For `sweep`: the file to which a script for Slurm is written. The script runs the sweep as a
  /// job array. With `slurm`, as with `dry_run`, this program only prints the plan. Empty: no
  /// script.
  std::string slurm;
  std::optional<int> slurm_tasks;  ///< number of tasks of the job array; none: 8
};
/// Checks `format` and `columns`. ConfigError: one of them is invalid.
void check(const OutputSettings& output);

/// The settings of `run` or `sweep`.
struct RunSettings {
  bool sweep = false;  ///< whether these are settings of `sweep`, not of `run`
  /// The settings that need no conversion. The members arms, grid, refused, answer_limits, oracle,
  /// shard, go_on, target_ci, progress and given of `spec` are ignored: make_run_spec computes them
  /// from the members below.
  RunSpec spec;
  std::vector<std::string> decoders;  ///< names of decoders; each becomes an arm
  std::vector<std::string> arms;      ///< LABEL=NAME[,OPTION=VALUE...]; NAME: a decoder
  /// each entry is DECODER.OPTION=VALUE, which sets an option of all arms with this decoder, or
  /// OPTION=VALUE, which sets an option of all arms that have this option
  std::vector<std::string> sets;
  std::vector<std::string> grid;  ///< for a sweep: KEY=V1,V2...
  /// for a sweep: axes in the experiment file, used if `grid` is empty
  std::vector<GridAxis> axes;
  /// For a sweep: a cell stops when half the width of its speedup's interval is at most this share
  /// of the speedup, e.g. "2%" or "0.02". Empty: cells do not stop early.
  std::string target_ci;
  std::vector<std::string> answer_tokens;  ///< DATASET=N (parse_answer_limits)
  int batch_size = 8;                      ///< of all arms that do not set a batch size
  std::string oracle, shard;               ///< see parse_oracle and parse_shard; empty: none
  /// for a sweep: whether a new sweep begins, instead of continuing the stored sweep
  bool fresh = false;
  std::string progress = "auto";  ///< see parse_progress_style
  bool add_baselines = true;      ///< whether missing baselines of arms are added
  OutputSettings output;
};

/// The table of settings for `run`, or for `sweep` if settings.sweep is true. The rows point into
/// `settings`, which must outlive them.
Settings settings_of(RunSettings& settings);

/// Changes `settings` to the values in an experiment file. `where`: the file's name for errors.
/// `given`: names of settings that keep their values. The key `model` has no effect if `settings`
/// already has a model. The key `datasets` has no effect if `settings` has datasets. The key
/// `decoders` has no effect if `settings` has decoders or arms. Returns the names of the rows of
/// settings_of(settings) that were set. ConfigError, which names the key: a setting is invalid.
std::set<std::string> read_experiment(const Json& json, const std::string& where,
                                      RunSettings& settings,
                                      const std::set<std::string>& given = {});

/// The settings in an experiment file, as the flag -c reads them. `where`: the file's name for
/// errors. `sweep`: whether the file is read for `sweep`, not for `run`. ConfigError: see
/// read_experiment.
RunSettings read_run_settings(const Json& json, const std::string& where, bool sweep = false);

/// The settings as the content of an experiment file. read_run_settings returns the same settings
/// for this content, if its argument `sweep` is settings.sweep. Members without a key in experiment
/// files, such as `add_baselines`, are left out. ConfigError: settings.grid is invalid.
Json json_of(const RunSettings& settings);

/// The JSON schema of experiment files.
OrderedJson experiment_schema();

/// Converts the settings to a RunSpec. Reads the training records of the arms' networks, if there
/// are any, because arms use the options with which their network was trained. ConfigError, which
/// names the setting in backquotes: a setting is invalid. ModelError: see read_training_record.
/// DataError: see read_training_record and give_oracle.
RunSpec make_run_spec(const RunSettings& settings);

}  // namespace pardec
