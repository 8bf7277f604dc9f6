#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/cli/arms.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/workload.hpp"

/// What `pardec run` was asked for.
namespace pardec {

struct RunFlags {
  ModelFlags model;
  DecodeFlags decode;
  std::vector<std::string> decoders, arms, sets, datasets;
  std::string data_root, split, order = "interleaved", baseline, db = "results/pardec.sqlite",
                                shard, config, format = "md", progress = "auto", oracle, trace;
  std::int64_t limit = 0, offset = 0;
  CacheBudget cache;
  int batch_size = 8, warmup = 1, runs = 1, block = 0;
  std::optional<int> shots;  ///< none: as many as the dataset's protocol has
  double fail_on_error = 0;
  bool resume = false, retry_errors = false, dry_run = false, unseen = false, matrix = false;
  bool db_is_default = true;
  std::string name = "run";
  std::vector<std::string> argv;
};

/// Fills in what an experiment file says and the command line does not. ConfigError, with the key.
void read_experiment(CLI::App& app, RunFlags& flags);

/// ConfigError for a number out of its range, and for flags that do not go together.
void check(const RunFlags& flags);

/// --shard: of N shares, the one that is done here.
struct Shard {
  int index = 0, count = 1;
};

Shard parse_shard(const std::string& text);

/// What --oracle says.
struct OracleFlag {
  std::string kind;                   ///< references, recorded or accept; empty: no oracle
  std::optional<double> accept_rate;  ///< accept:A
  std::string run;                    ///< recorded:RUN
};

OracleFlag parse_oracle(const std::string& text);

/// ConfigError where the oracle does not drive every arm; `decoders` are theirs.
void check_oracle(const OracleFlag& oracle, const std::vector<Arm>& arms,
                  const std::vector<std::unique_ptr<Decoder>>& decoders);

}  // namespace pardec
