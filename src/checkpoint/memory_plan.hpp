#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// The memory that a run may need, computed before any of it is allocated.
#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"

namespace pardec {

/// Peak memory = weights + cache + a twentieth of both + kProgramBytes, for the program itself and
/// the intermediate results of one pass.
struct MemoryPlan {
  static constexpr double kBeside = 1.05;
  static constexpr std::int64_t kProgramBytes = 160'000'000;

  int networks = 0;  ///< number of networks in memory at a time, including draft networks
  std::int64_t weight_bytes = 0;  ///< of all these networks, including extra heads
  std::int64_t head_bytes = 0;    ///< of the extra heads
  std::int64_t row_bytes = 0;     ///< of a cached row: keys and values, including a draft network's
  std::int64_t limit = 0;         ///< 0: no limit

  /// The memory that the limit leaves for the cache; negative: not even the weights fit.
  std::int64_t cache_bytes() const;
  /// The number of blocks of `block_rows` rows that fit, each with its share of additional memory.
  std::int64_t blocks(int block_rows) const;
  /// The smallest limit under which a sequence of `rows` rows fits.
  std::int64_t least(std::int64_t rows) const;
};

/// "64.0 MB", "1.25 GB".
std::string shown_bytes(std::int64_t bytes);

/// `text`: `4G`, `512M`, `1.5GiB` or `900000000`; units are decimal unless they have an i.
/// ConfigError, which names the flag.
std::int64_t parse_bytes(const std::string& name, const std::string& text);

/// The plan for the networks of all `arms`, computed from their configs. `together`: each distinct
/// network is in memory once; otherwise, only those of one arm at a time. Rows are cached for one
/// arm at a time. ConfigError: --memory-limit is too small for the networks and the shortest
/// sequence. ModelError: an invalid config. REQUIRES: there is at least one arm, and all have the
/// same limit.
MemoryPlan plan_memory(const std::vector<ModelOptions>& arms, int block_rows, bool together = true);

/// Keeps the cache within the plan's limit, if there is one: limits the number of blocks, keeps a
/// fifth of them free for running sequences (on the CPU, there is no other memory to swap rows to),
/// and admits fewer prompt rows to a pass. If `cache` already keeps another share free, it is not
/// changed.
void apply_limit(const MemoryPlan& plan, const ModelOptions& options, CacheBudget& cache);

/// One line: weights, cache per row, and the memory that the limit leaves.
std::string describe(const MemoryPlan& plan, const CacheBudget& cache);

/// The peak memory of this process, in words.
std::string describe_peak();

}  // namespace pardec
