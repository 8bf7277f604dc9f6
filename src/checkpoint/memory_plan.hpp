#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"

/// Plans the memory of a run before any of it is allocated.
namespace pardec {

/// The memory that a run needs. Peak memory is estimated as kBeside * (weights + KV cache) +
/// kProgramBytes. kProgramBytes is for the program itself and the activations of one pass. For the
/// KV cache, the plan counts KvCache::kGrowth times the bytes of its rows, because the capacity of
/// a cache grows by this factor.
struct MemoryPlan {
  static constexpr double kBeside = 1.05;
  static constexpr std::int64_t kProgramBytes = 160'000'000;

  int networks = 0;  ///< number of networks in memory at a time, including draft networks
  std::int64_t weight_bytes = 0;  ///< weights of all these networks, including extra heads
  std::int64_t head_bytes = 0;    ///< the part of weight_bytes for the extra heads
  /// keys and values of one row, including the draft network's row; maximum over the arms
  std::int64_t row_bytes = 0;
  std::int64_t limit = 0;  ///< of the peak memory, in bytes; 0: no limit

  /// The bytes that the limit leaves for the KV cache. Negative: not even the weights fit.
  /// REQUIRES, also for blocks(): `limit` is not 0.
  std::int64_t cache_bytes() const;
  /// The number of cache blocks of `block_rows` rows that fit into cache_bytes(). Negative:
  /// cache_bytes() is negative.
  std::int64_t blocks(int block_rows) const;
  /// The smallest limit, in bytes, under which a sequence of `rows` rows fits.
  std::int64_t least(std::int64_t rows) const;
};

/// For example "64.0 MB", "1.25 GB".
std::string shown_bytes(std::int64_t bytes);

/// Parses a size such as `4G`, `512M`, `1.5GiB` or `900000000`. Units with an i are binary, others
/// are decimal. ConfigError, which names the setting `name`: the text has another form.
std::int64_t parse_bytes(const std::string& name, const std::string& text);

/// Plans the memory for the networks of all `arms`, from their configs. `together`: true if all
/// distinct networks are in memory at once; false if only the networks of one arm are in memory at
/// a time. The KV cache is used by one arm at a time. ConfigError: --memory-limit is not a size, or
/// is too small for the networks and one cache block of `block_rows` rows; or see chosen_dtype.
/// ModelError: a config or adapter is invalid. REQUIRES: at least one arm; all arms have the same
/// limit.
MemoryPlan plan_memory(const std::vector<ModelOptions>& arms, int block_rows, bool together = true);

/// Changes `cache` so that it fits the plan. Does nothing if the plan has no limit.
/// CacheBudget::blocks becomes at most plan.blocks(cache.block_rows). On the CPU,
/// CacheBudget::prefill_rows becomes at most 256, and CacheBudget::swaps becomes false, because
/// there is no other memory for preempted rows. The watermark becomes 0.2 on the CPU, unless
/// `cache` already has another watermark than the default.
void apply_limit(const MemoryPlan& plan, const ModelOptions& options, CacheBudget& cache);

/// Describes the plan in one line: weights, cache per row, and, if there is a limit, the memory
/// that it leaves and the blocks of `cache`.
std::string describe(const MemoryPlan& plan, const CacheBudget& cache);

/// Describes the peak memory of this process so far, e.g. "a peak of 1.25 GB".
std::string describe_peak();

}  // namespace pardec
