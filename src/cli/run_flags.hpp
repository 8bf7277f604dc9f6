#pragma once
#include <string>
#include <vector>

#include "src/report/table.hpp"
#include "src/runs/grid.hpp"
#include "src/runs/run_spec.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The flags of `pardec run` and, where `sweep` is set, of `pardec sweep`: what they say straight
/// away, and the texts of which the rest is made.
struct RunFlags {
  RunSpec spec;
  std::vector<std::string> decoders, arms, sets, answer_tokens;
  bool sweep = false;                  ///< these are of `sweep`:
  std::vector<std::string> grid;       ///< --grid
  std::vector<GridAxis> grid_of_file;  ///< of -c, where --grid gives none
  std::string target_ci;               ///< empty: none
  bool fresh = false;                  ///< begins anew
  std::string oracle, shard, progress = "auto", config, format = "text";
  std::vector<std::string> hardware;
  int batch_size = 8;
  double fail_on_error = 0;
  std::string judge;  ///< of `run`: the file of a service that judges the answers
  bool dry_run = false, matrix = false, strict = false;
  ColumnChoice columns;
  bool add_baselines = true;  ///< that arms need and nobody named
};

void add_flags(CLI::App& app, RunFlags& flags);

/// Fills in what an experiment says and the flags of `app` do not; `where` it stands.
/// ConfigError, with the key.
void read_experiment(CLI::App& app, const Json& json, const std::string& where, RunFlags& flags);
/// Makes the spec whole from the texts that flags and experiment gave. ConfigError.
void finish(RunFlags& flags);

/// Fills in what an experiment file says and the command line does not, and makes the whole spec.
/// ConfigError, with the key or flag.
void complete(CLI::App& app, RunFlags& flags);

}  // namespace pardec
