#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/runs/grid.hpp"
#include "src/runs/run_spec.hpp"
#include "src/settings/setting.hpp"
#include "src/settings/shared_settings.hpp"

/// What a run or a sweep is told, as plain values: from an experiment (JSON), from flags, or from a
/// program. make_run_spec makes of it what is run.
namespace pardec {

/// What is shown of a run, by a program that shows it.
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
  bool sweep = false;        ///< of `pardec sweep`: a grid of settings
  std::string name = "run";  ///< of the experiment
  ModelOptions model;
  DecodeOptions decode;
  std::vector<std::string> decoders;       ///< arms of these names
  std::vector<std::string> arms;           ///< LABEL=NAME[,OPTION=VALUE...]
  std::vector<std::string> sets;           ///< [DECODER.]OPTION=VALUE
  std::vector<std::string> grid;           ///< of a sweep: KEY=V1,V2...
  std::vector<GridAxis> axes;              ///< of a sweep's experiment, where `grid` has none
  std::string target_ci;                   ///< of a sweep: a share; empty: none
  std::vector<std::string> datasets;       ///< names, and NAME=FILE
  std::vector<std::string> answer_tokens;  ///< NAME=N
  bool strict_columns = false;
  std::string data_root, split;
  std::int64_t limit = 0, offset = 0;
  std::optional<int> shots;
  bool unseen = false;
  int batch_size = 8;
  int block = 0;
  CacheBudget cache;
  int warmup = 1, repair = 0, runs = 1;
  std::string order = "interleaved", baseline, oracle;
  std::string db = "results/pardec.sqlite", trace, shard;
  bool fresh = false;  ///< of a sweep: begins anew
  bool resume = false, retry_errors = false;
  std::string progress = "auto";
  bool add_baselines = true;  ///< that arms need and nobody named
  OutputSettings output;
};

/// The rows of the table, of `run` or, where `sweep` is set, of `sweep`.
Settings settings_of(RunSettings& settings);

/// Fills in what an experiment says and `given` (names of settings) does not have; `where` it
/// stands. Returns the names of the settings that it has. ConfigError, with the key.
std::set<std::string> read_experiment(const Json& json, const std::string& where,
                                      RunSettings& settings,
                                      const std::set<std::string>& given = {});

/// An experiment, as `run -c` or `sweep -c` read one. ConfigError, with the key.
RunSettings read_run_settings(const Json& json, const std::string& where, bool sweep = false);

/// The experiment that is read back to the same settings.
Json json_of(const RunSettings& settings);

/// The JSON schema of an experiment, for `run` and `sweep`.
OrderedJson experiment_schema();

/// Makes the spec whole; reads the record of training of the arms' networks, where there is one.
/// ConfigError, which names a setting in backquotes.
RunSpec make_run_spec(const RunSettings& settings);

}  // namespace pardec
