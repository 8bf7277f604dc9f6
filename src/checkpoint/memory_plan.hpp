#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// What a run may hold in memory, known before anything of it is allocated.
#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"

namespace pardec {

/// Peak memory = weights + cache + a twentieth of both and kProgramBytes, for the program itself
/// and what one pass computes.
struct MemoryPlan {
  static constexpr double kBeside = 1.05;
  static constexpr std::int64_t kProgramBytes = 160'000'000;

  int networks = 0;               ///< that are held at a time, drafts included
  std::int64_t weight_bytes = 0;  ///< of all of them, with their extra heads
  std::int64_t head_bytes = 0;    ///< of these heads
  std::int64_t row_bytes = 0;     ///< of a cached row: keys and values; of a draft network's, too
  std::int64_t limit = 0;         ///< 0: none

  /// What the limit leaves for the cache; below 0: not even the weights fit.
  std::int64_t cache_bytes() const;
  /// Blocks of `block_rows` rows that it has room for, each with its share of room to grow.
  std::int64_t blocks(int block_rows) const;
  /// The least limit under which a sequence of `rows` rows fits.
  std::int64_t least(std::int64_t rows) const;
};

/// "64.0 MB", "1.25 GB".
std::string shown_bytes(std::int64_t bytes);

/// `4G`, `512M`, `1.5GiB`, `900000000`; a decimal unit unless it has an i. ConfigError, which names
/// the flag.
std::int64_t parse_bytes(const std::string& name, const std::string& text);

/// Of the networks of all `arms`, by their configs alone: `together`, each distinct one once, or
/// those of one arm at a time. Rows are cached for one arm at a time. ConfigError where
/// --memory-limit is too small for them and the shortest of sequences; ModelError for a config that
/// is wrong. REQUIRES: an arm; all have the same limit.
MemoryPlan plan_memory(const std::vector<ModelOptions>& arms, int block_rows, bool together = true);

/// Keeps the cache inside the plan's limit, where it has one: fewer blocks if need be, and a fifth
/// of them left free for the sequences that run, as on the CPU nothing can be moved elsewhere, and
/// fewer prompt rows in a pass.
/// Another share that `cache` already leaves free stays.
void apply_limit(const MemoryPlan& plan, const ModelOptions& options, CacheBudget& cache);

/// In one line: weights, a row's cache, and what the limit leaves.
std::string describe(const MemoryPlan& plan, const CacheBudget& cache);

/// How much memory this process has held at most, as a sentence.
std::string describe_peak();

}  // namespace pardec
