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

/// The complete specification of one invocation: its datasets, its arms, and the network of each
/// arm.
namespace pardec {

/// The part of the work that this process does: every N-th block, starting with block I.
struct Shard {
  int index = 0, count = 1;
  std::string text;  ///< "I/N"; empty: all of the work

  bool has(size_t block) const { return static_cast<int>(block) % count == index; }
};
/// Parses I/N; an empty text means all of the work. ConfigError: the text has another form.
Shard parse_shard(const std::string& text);

/// Parses texts DATASET=N, where N is a number of token ids. ConfigError: a text has another form.
std::map<std::string, int> parse_answer_limits(const std::vector<std::string>& texts);

struct RunSpec {
  ModelOptions model;
  DecodeOptions decode;
  std::vector<Arm> arms;
  bool grid = false;  ///< arms are cells of a grid; it is no error if some cells cannot run
  std::vector<RefusedArm> refused;  ///< the cells that cannot run
  std::vector<std::string> datasets;
  /// data_root: empty is the project's samples
  std::string data_root, split;
  std::int64_t limit = 0, offset = 0;
  bool unseen = false;
  std::optional<int> shots;                  ///< few-shot examples; none: as the protocol says
  std::map<std::string, int> answer_limits;  ///< maximum number of ids of an answer, by dataset
  /// unused columns in the user's own data are errors
  bool strict_columns = false;
  int block = 0;  ///< examples per block; 0: default_block_examples
  CacheBudget cache;
  int warmup = 1, runs = 1;
  int repair = 0;  ///< maximum number of disturbed blocks per dataset to measure again
  std::string order = "interleaved";  ///< interleaved or blocked
  std::string baseline;               ///< label of an arm; empty: baseline_of chooses for each arm
  OracleSpec oracle;                  ///< for arms without an oracle of their own
  Shard shard;
  std::string db = "results/pardec.sqlite", trace;
  bool resume = false, retry_errors = false;
  /// like `resume` if the database has a run with these settings, otherwise a new run
  bool go_on = false;
  double target_ci = 0;  ///< execute() stops an arm at this precision; 0: never
  ProgressStyle progress = ProgressStyle::automatic;

  std::string name = "run";       ///< name of the experiment
  std::vector<std::string> argv;  ///< recorded only
  Json given = Json::object();    ///< recorded only: arms and decoders as given
};

/// ConfigError: settings are incompatible. src/settings checks the range of each number.
void check(const RunSpec& spec);

/// The first arm with an oracle; if `kind` is not empty, with an oracle of this kind. Null: there
/// is none.
const Arm* forced_arm(const std::vector<Arm>& arms, std::string_view kind = "");

/// ConfigError: the run has an oracle that applies to none of its arms.
void check_oracle_used(const RunSpec& spec);

/// Calls `check` for every arm. If the arms are cells of a grid, arms for which `check` throws are
/// moved to spec.refused, with the reason. ConfigError: no arm is left.
void check_arms(RunSpec& spec, const std::function<void(Arm&)>& check);

/// The cache budget of an arm.
CacheBudget cache_of(const RunSpec& spec, const Arm& arm);

/// The networks of an arm: its own, or else the run's. A draft network is included only if the
/// arm's decoder uses one.
ModelOptions networks_of(const RunSpec& spec, const Arm& arm);
/// Whether arms use different networks.
bool several_networks(const RunSpec& spec);
/// The networks of all arms, one entry per arm.
std::vector<ModelOptions> networks_of(const RunSpec& spec);

}  // namespace pardec
