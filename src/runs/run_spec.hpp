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

/// The part of the work that this process does: every N-th block, starting with block I. Blocks are
/// counted from 0.
struct Shard {
  int index = 0, count = 1;
  std::string text;  ///< "I/N"; empty: all of the work

  /// Whether the block at this position belongs to the shard.
  bool has(size_t block) const { return static_cast<int>(block) % count == index; }
};
/// Parses I/N, where 0 <= I < N; an empty text means all of the work. ConfigError: the text has
/// another form.
Shard parse_shard(const std::string& text);

/// Parses texts DATASET=N, where N is the maximum number of tokens of an answer. If several texts
/// name the same dataset, the first one counts. ConfigError: a text has another form, or N is less
/// than 1.
std::map<std::string, int> parse_answer_limits(const std::vector<std::string>& texts);

/// The settings of one invocation.
struct RunSpec {
  ModelOptions model;
  DecodeOptions decode;
  std::vector<Arm> arms;
  /// whether the arms are cells of a grid; then it is no error if some of them cannot run
  bool grid = false;
  std::vector<RefusedArm> refused;    ///< the cells that cannot run
  std::vector<std::string> datasets;  ///< names, or NAME=FILE for the user's own data
  /// data_root: the folder of the datasets; empty: the project's own samples. split: the split of
  /// every dataset; empty: each dataset's default split
  std::string data_root, split;
  /// limit: maximum number of examples per dataset; 0: all. offset: number of examples to skip
  /// (see `select` in datasets/dataset.hpp).
  std::int64_t limit = 0, offset = 0;
  bool unseen = false;  ///< leave out examples whose text is also in the train split
  /// number of few-shot examples in a prompt; none: the dataset's usual number
  std::optional<int> shots;
  /// maps datasets to the maximum number of tokens of an answer; other datasets have their usual
  /// limits
  std::map<std::string, int> answer_limits;
  /// whether unused columns in the user's own data are errors
  bool strict_columns = false;
  /// examples per block; 0: default_block_examples, but at most the examples of one shard
  int block = 0;
  CacheBudget cache;
  /// warmup: number of jobs that each cell runs before the measurement. runs: number of repeats.
  int warmup = 1, runs = 1;
  int repair = 0;  ///< maximum number of disturbed blocks that are measured again, per dataset
  /// interleaved: the arms take turns block by block; blocked: each arm runs all its blocks before
  /// the next arm begins
  std::string order = "interleaved";
  std::string baseline;  ///< label of an arm; empty: baseline_of chooses for each arm
  OracleSpec oracle;     ///< for arms without an oracle of their own
  Shard shard;
  std::string db = "results/pardec.sqlite", trace;  ///< files; empty `trace`: no trace is written
  /// resume: continue the newest stored run of these arms. retry_errors: when a run is continued,
  /// run its failed jobs again.
  bool resume = false, retry_errors = false;
  /// like `resume` if the database has a run with these settings, otherwise a new run
  bool go_on = false;
  double target_ci = 0;  ///< an arm stops at this precision (execute()); 0: never
  ProgressStyle progress = ProgressStyle::automatic;

  std::string name = "run";       ///< name of the experiment
  std::vector<std::string> argv;  ///< recorded only
  Json given = Json::object();    ///< recorded only: arms and decoders as given
};

/// Checks the settings that depend on each other; src/settings checks the range of each number.
/// ConfigError: settings contradict each other, no dataset is named, or one is named twice.
void check(const RunSpec& spec);

/// The first arm with an oracle of this kind (OracleSpec::kind); an empty `kind` means any kind.
/// Null: there is no such arm.
const Arm* forced_arm(const std::vector<Arm>& arms, std::string_view kind = "");

/// Checks that the oracle of the run, if there is one, applies to some arm. ConfigError: it does
/// not. REQUIRES: give_oracle was called for all arms.
void check_oracle_used(const RunSpec& spec);

/// Calls `check` for every arm. If the arms are cells of a grid, arms for which `check` throws are
/// moved to spec.refused, with the reason. Otherwise, the exception is passed on. ConfigError: all
/// cells of the grid were moved.
void check_arms(RunSpec& spec, const std::function<void(Arm&)>& check);

/// The cache budget of an arm: the run's budget, with the arm's own number of blocks if it has one.
CacheBudget cache_of(const RunSpec& spec, const Arm& arm);

/// The networks of an arm: its own, or else the run's. A draft network is included only if the
/// arm's decoder uses one. If a service answers the arm, only the tokenizer is needed, so
/// ModelOptions::weights is false, and ModelOptions::model is the arm's option `tokenizer` if this
/// option is set.
ModelOptions networks_of(const RunSpec& spec, const Arm& arm);
/// Whether the arms use more than one network or adapter. Draft networks are not compared.
bool several_networks(const RunSpec& spec);
/// The networks of all arms, one entry per arm.
std::vector<ModelOptions> networks_of(const RunSpec& spec);

}  // namespace pardec
