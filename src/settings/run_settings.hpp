#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/runs/grid.hpp"
#include "src/runs/run_spec.hpp"
#include "src/settings/setting.hpp"
#include "src/settings/shared_settings.hpp"

/// The settings of a run or a sweep as plain values, from an experiment (JSON), from flags, or from
/// a program. make_run_spec converts them to a specification.
namespace pardec {

/// Settings for programs that display a run.
struct OutputSettings {
  std::string format = "text";
  ColumnChoice columns;
  std::vector<std::string> hardware;
  double fail_on_error = 0;
  std::string judge;  ///< of `run`: the file of a service that judges the answers
  bool dry_run = false, matrix = false, strict = false;
};
/// ConfigError.
void check(const OutputSettings& output);

struct RunSettings {
  bool sweep = false;  ///< whether it is `pardec sweep`: a grid of settings
  /// Settings that are stored directly. make_run_spec derives the other members from the texts
  /// below: arms, grid, answer_limits, oracle, shard, go_on, target_ci, progress.
  RunSpec spec;
  std::vector<std::string> decoders;  ///< arms with these names
  std::vector<std::string> arms;      ///< LABEL=NAME[,OPTION=VALUE...]
  std::vector<std::string> sets;      ///< [DECODER.]OPTION=VALUE
  std::vector<std::string> grid;      ///< for a sweep: KEY=V1,V2...
  std::vector<GridAxis> axes;  ///< for a sweep: axes from its experiment, used if `grid` is empty
  std::string target_ci;       ///< for a sweep: a share; empty: none
  std::vector<std::string> answer_tokens;  ///< NAME=N
  int batch_size = 8;
  std::string oracle, shard;
  bool fresh = false;  ///< for a sweep: starts from scratch
  std::string progress = "auto";
  bool add_baselines = true;  ///< adds baselines that arms need and that were not requested
  OutputSettings output;
};

/// The rows of the table for `run` or, if `sweep` is set, for `sweep`.
Settings settings_of(RunSettings& settings);

/// Fills in the settings from an experiment, except those in `given` (names of settings). `where`:
/// the location of the experiment. Returns the names of the settings that the experiment has.
/// ConfigError, with the key.
std::set<std::string> read_experiment(const Json& json, const std::string& where,
                                      RunSettings& settings,
                                      const std::set<std::string>& given = {});

/// An experiment, as read by `run -c` or `sweep -c`. ConfigError, with the key.
RunSettings read_run_settings(const Json& json, const std::string& where, bool sweep = false);

/// An experiment that can be read to get the same settings.
Json json_of(const RunSettings& settings);

/// The JSON schema of an experiment, for `run` and `sweep`.
OrderedJson experiment_schema();

/// Converts the settings to a specification. Reads the training records of the arms' networks, if
/// they exist. ConfigError, naming a setting in backquotes.
RunSpec make_run_spec(const RunSettings& settings);

}  // namespace pardec
