#include "src/checkpoint/memory_plan.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "src/checkpoint/network_size.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/model/kv_cache.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Adds a network of the run to the plan.
void add(MemoryPlan& plan, const ModelOptions& options) {
  ++plan.networks;
  const Dtype dtype = chosen_dtype(options);
  const ModelConfig config = with_first_layers(read_model_config(options.model, options.adapter),
                                               options.layers, options.model);
  const NetworkSize size = network_size(config, dtype);
  plan.weight_bytes += weight_bytes(config, dtype);
  std::error_code none;
  const auto heads = extra_heads_file(options.model, options.adapter);
  if (const auto file = std::filesystem::file_size(heads, none); !none) {
    const auto bytes = static_cast<std::int64_t>(static_cast<double>(file) / 2 *  // stored as bf16
                                                 size.bytes_per_value);
    plan.weight_bytes += bytes;
    plan.head_bytes += bytes;
  }
  plan.row_bytes += static_cast<std::int64_t>(size.cached_per_row * size.bytes_per_value);
}

/// The plan for one arm's networks that are not yet in `counted`, to which they are added.
MemoryPlan plan_of(const ModelOptions& options, std::set<std::string>& counted) {
  MemoryPlan plan;
  const auto add_new = [&](const ModelOptions& network) {
    if (counted.insert(network_key(network)).second) add(plan, network);
  };
  add_new(options);
  if (!options.draft_model.empty()) add_new(draft_options(options));
  return plan;
}

/// The plan for the networks of the arms, without a limit.
MemoryPlan held(const std::vector<ModelOptions>& arms, bool together) {
  MemoryPlan plan;
  std::set<std::string> counted;
  for (const ModelOptions& arm : arms) {
    std::set<std::string> own;
    const MemoryPlan alone = plan_of(arm, own);
    plan.row_bytes = std::max(plan.row_bytes, alone.row_bytes);
    if (together) {
      const MemoryPlan more = plan_of(arm, counted);
      plan.weight_bytes += more.weight_bytes;
      plan.head_bytes += more.head_bytes;
      plan.networks += more.networks;
    } else if (alone.weight_bytes > plan.weight_bytes) {
      plan.weight_bytes = alone.weight_bytes;
      plan.head_bytes = alone.head_bytes;
      plan.networks = alone.networks;
    }
  }
  return plan;
}

}  // namespace

std::string shown_bytes(std::int64_t bytes) {
  return bytes < 100'000'000 ? str(fixed(static_cast<double>(bytes) * 1e-6, 1), " MB")
                             : str(fixed(static_cast<double>(bytes) * 1e-9, 2), " GB");
}

std::int64_t MemoryPlan::cache_bytes() const {
  return static_cast<std::int64_t>(static_cast<double>(limit - kProgramBytes) / kBeside) -
         weight_bytes;
}

std::int64_t MemoryPlan::blocks(int block_rows) const {
  return static_cast<std::int64_t>(
      static_cast<double>(cache_bytes()) /
      (KvCache::kGrowth * static_cast<double>(row_bytes * block_rows)));
}

std::int64_t MemoryPlan::least(std::int64_t rows) const {
  const double cache = KvCache::kGrowth * static_cast<double>(row_bytes * rows);
  return static_cast<std::int64_t>(
             std::ceil(kBeside * (static_cast<double>(weight_bytes) + cache))) +
         kProgramBytes;
}

std::int64_t parse_bytes(const std::string& name, const std::string& text) {
  double number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = error == std::errc() ? static_cast<size_t>(rest - text.data()) : 0;
  std::string unit = text.substr(used);
  if (unit.ends_with('B')) unit.pop_back();
  const bool binary = unit.ends_with('i');
  if (binary) unit.pop_back();
  const size_t power = unit.empty() ? 0 : std::string("KMGT").find(unit) + 1;
  const double bytes = number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
  if (used == 0 || unit.size() > 1 || (!unit.empty() && power == 0) || (binary && unit.empty()) ||
      !(bytes >= 1 && bytes < 9e18))
    throw ConfigError(
        str("`", name, "` is '", text, "', expected a size such as 4G, 512M or 1.5GiB"));
  return static_cast<std::int64_t>(bytes);
}

MemoryPlan plan_memory(const std::vector<ModelOptions>& arms, int block_rows, bool together) {
  MemoryPlan plan = held(arms, together);
  const ModelOptions& options = arms.front();
  if (!options.memory_limit.empty()) plan.limit = parse_bytes("memory_limit", options.memory_limit);
  if (plan.limit > 0 && plan.blocks(block_rows) < 1) {
    MemoryPlan one = held(arms, false);
    one.limit = plan.limit;
    const bool one_fits = one.blocks(block_rows) >= 1;
    throw ConfigError(str(
        "`memory_limit` is ", shown_bytes(plan.limit), ", and the weights ",
        plan.networks > 1 ? str("of ", plan.networks, " networks ") : "", "take ",
        shown_bytes(plan.weight_bytes), " in ", name(chosen_dtype(options)),
        " and a twentieth more, the program ", shown_bytes(MemoryPlan::kProgramBytes),
        ": no room is left for a cache; expected at least ",
        // a margin, so that the shown limit is sufficient after rounding
        shown_bytes(plan.least(block_rows) + 5'000'000), ", and more for longer prompts",
        one_fits ? "; `order=blocked` holds the networks of one arm at a time, which fit" : ""));
  }
  return plan;
}

void apply_limit(const MemoryPlan& plan, const ModelOptions& options, CacheBudget& cache) {
  if (plan.limit == 0) return;
  const std::int64_t blocks = plan.blocks(cache.block_rows);
  cache.blocks = cache.blocks > 0 ? std::min(cache.blocks, blocks) : blocks;
  if (options.device != "cpu") return;
  cache.swaps = false;
  // The intermediate results for a row in a pass are much larger than its cached data.
  constexpr std::int64_t kPromptRows = 256;
  cache.prefill_rows = std::min(cache.prefill_rows, kPromptRows);
  constexpr double kFree = 0.2;
  if (cache.watermark == CacheBudget{}.watermark) cache.watermark = kFree;
}

std::string describe(const MemoryPlan& plan, const CacheBudget& cache) {
  const std::string weights =
      str("weights ", plan.networks > 1 ? str("of ", plan.networks, " networks ") : "",
          shown_bytes(plan.weight_bytes),
          plan.head_bytes > 0 ? " with extra heads of " + shown_bytes(plan.head_bytes) : "",
          ", cache ", fixed(static_cast<double>(plan.row_bytes) * 1e-3, 1), " kB a row");
  if (plan.limit == 0) return weights;
  return str(weights, "; `memory_limit` ", shown_bytes(plan.limit), " leaves ",
             shown_bytes(plan.cache_bytes()), " for the cache: ", counted(cache.blocks, "block"),
             " of ", counted(cache.block_rows, "row"));
}

std::string describe_peak() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  return str("a peak of ", fixed(bytes * 1e-9, 2), " GB");
}

}  // namespace pardec
