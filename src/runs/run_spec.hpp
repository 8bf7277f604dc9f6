#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"
#include "src/runs/arms.hpp"
#include "src/support/progress.hpp"
#include "src/tasks/decode_options.hpp"

/// Everything that defines one invocation: datasets x arms, each on its network.
namespace pardec {

/// The part of the work done by this process: every N-th block, starting with the I-th.
struct Shard {
  int index = 0, count = 1;
  std::string text;  ///< "I/N"; empty: the whole work

  bool has(size_t block) const { return static_cast<int>(block) % count == index; }
};
/// ConfigError: not of the form I/N; empty: the whole work.
Shard parse_shard(const std::string& text);

/// Datasets and numbers of ids, each given as NAME=N. ConfigError.
std::map<std::string, int> parse_answer_limits(const std::vector<std::string>& texts);

struct RunSpec {
  ModelOptions model;
  DecodeOptions decode;
  std::vector<Arm> arms;
  bool grid = false;  ///< arms are cells of a grid, so one that cannot run is not an error
  std::vector<RefusedArm> refused;  ///< the cells that cannot run
  std::vector<std::string> datasets;
  std::string data_root, split;  ///< empty: the project's samples; the split for evaluation
  std::int64_t limit = 0, offset = 0;
  bool unseen = false;
  std::optional<int> shots;                  ///< none: the number in the dataset's protocol
  std::map<std::string, int> answer_limits;  ///< maximum number of ids of an answer, by dataset
  bool strict_columns = false;               ///< unused columns in a user's own data are an error
  int block = 0;                             ///< number of examples; 0: default_block_examples
  CacheBudget cache;
  int warmup = 1, runs = 1;
  int repair = 0;  ///< maximum number of disturbed blocks per dataset to measure again
  std::string order = "interleaved";  ///< or blocked
  std::string baseline;               ///< label; empty: each arm's own
  OracleSpec oracle;                  ///< for arms without their own oracle
  Shard shard;
  std::string db = "results/pardec.sqlite", trace;
  bool resume = false, retry_errors = false;
  /// like `resume` if the database has a run with these settings, otherwise a new run
  bool go_on = false;
  double target_ci = 0;  ///< recorded only; the `enough` of run_cells stops an arm. 0: none
  ProgressStyle progress = ProgressStyle::automatic;

  std::string name = "run";       ///< of the experiment
  std::vector<std::string> argv;  ///< recorded only
  Json given = Json::object();    ///< recorded only: arms and decoders as given
};

/// ConfigError: settings are incompatible. src/settings checks the range of each number.
void check(const RunSpec& spec);

/// The first arm with an oracle, or with one of this kind; null: there is none.
const Arm* forced_arm(const std::vector<Arm>& arms, std::string_view kind = "");

/// ConfigError: an oracle was given for the run, but applies to none of its arms.
void check_oracle_used(const RunSpec& spec);

/// Calls `check` for every arm. If arms are cells of a grid, those for which it throws are moved to
/// `refused`, with the reason; ConfigError: no arm is left.
void check_arms(RunSpec& spec, const std::function<void(Arm&)>& check);

/// The cache limits for an arm's concurrent jobs.
CacheBudget cache_of(const RunSpec& spec, const Arm& arm);

/// The networks of an arm: its own, otherwise the run's. Includes a draft network only if its
/// decoder uses one.
ModelOptions networks_of(const RunSpec& spec, const Arm& arm);
/// Whether arms use different networks.
bool several_networks(const RunSpec& spec);
/// The networks of all arms, in the order of the arms.
std::vector<ModelOptions> networks_of(const RunSpec& spec);

}  // namespace pardec
