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

/// What an invocation is to do: datasets x arms, each on its network.
namespace pardec {

/// Of N shares, the one that is done here: every N-th block, beginning with the I-th.
struct Shard {
  int index = 0, count = 1;
  std::string text;  ///< "I/N"; empty: there is one share

  bool has(size_t block) const { return static_cast<int>(block) % count == index; }
};
/// ConfigError for what is not I/N; empty: one share.
Shard parse_shard(const std::string& text);

/// Datasets and numbers of ids, from NAME=N each. ConfigError.
std::map<std::string, int> parse_answer_limits(const std::vector<std::string>& texts);

struct RunSpec {
  ModelOptions model;
  DecodeOptions decode;
  std::vector<Arm> arms;
  bool grid = false;                ///< arms are cells of a grid: one that cannot run is no error
  std::vector<RefusedArm> refused;  ///< these cells
  std::vector<std::string> datasets;
  std::string data_root, split;  ///< empty: the project's samples; the split for evaluation
  std::int64_t limit = 0, offset = 0;
  bool unseen = false;
  std::optional<int> shots;                  ///< none: as many as the dataset's protocol has
  std::map<std::string, int> answer_limits;  ///< ids of an answer at most, by dataset
  bool strict_columns = false;  ///< columns of a user's own that are not read are an error
  int block = 0;                ///< examples; 0: default_block_examples
  CacheBudget cache;
  int warmup = 1, runs = 1;
  int repair = 0;  ///< disturbed blocks of a dataset that are measured once more, at most
  std::string order = "interleaved";  ///< or blocked
  std::string baseline;               ///< label; empty: each arm's own
  OracleSpec oracle;                  ///< of the arms that have none of their own
  Shard shard;
  std::string db = "results/pardec.sqlite", trace;
  bool resume = false, retry_errors = false;
  bool go_on = false;  ///< `resume` where the database has a run of these settings, else a new one
  double target_ci = 0;  ///< run_cells's `enough` stops an arm; for the record. 0: none
  ProgressStyle progress = ProgressStyle::automatic;

  std::string name = "run";       ///< of the experiment
  std::vector<std::string> argv;  ///< for the record
  Json given = Json::object();    ///< for the record: arms and decoders as they were written
};

/// ConfigError for settings that do not go together. The range of each number stands in
/// src/settings.
void check(const RunSpec& spec);

/// The first arm with an oracle, of this kind where one is named; null: there is none.
const Arm* forced_arm(const std::vector<Arm>& arms, std::string_view kind = "");

/// ConfigError where an oracle was given for the run, and drives none of its arms.
void check_oracle_used(const RunSpec& spec);

/// Calls `check` for every arm. Where they are cells of a grid, one of which it throws leaves them
/// for `refused`, with the reason; ConfigError where none is left.
void check_arms(RunSpec& spec, const std::function<void(Arm&)>& check);

/// What an arm's jobs in flight may hold.
CacheBudget cache_of(const RunSpec& spec, const Arm& arm);

/// The networks of an arm: its own where it names some, else the run's; a draft network only where
/// its decoder drafts with one.
ModelOptions networks_of(const RunSpec& spec, const Arm& arm);
/// Whether arms name other networks than others.
bool several_networks(const RunSpec& spec);
/// Of all arms, in their order.
std::vector<ModelOptions> networks_of(const RunSpec& spec);

}  // namespace pardec
