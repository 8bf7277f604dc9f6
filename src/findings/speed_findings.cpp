#include "src/findings/speed_findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "src/support/machine_use.hpp"

namespace pardec {

namespace {

const double kNone = std::nan("");

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Costs by what they belong to, summed: repeats of a block are no new blocks.
template <typename Key>
class Sums {
 public:
  void add(const Key& key, double baseline, double method) {
    sums_[key].baseline += baseline;
    sums_[key].method += method;
  }
  std::vector<BlockPair> all() const {
    std::vector<BlockPair> pairs;
    for (const auto& [key, pair] : sums_) pairs.push_back(pair);
    return pairs;
  }

 private:
  std::map<Key, BlockPair> sums_;
};

bool disturbed(const BlockTime& time, int threads) {
  return taken_share(time.use.machine, time.wall_ns, threads) >= kDisturbedShare;
}

std::optional<Percentiles> percentiles(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return Percentiles{quantile(values, 0.5), quantile(values, 0.95), quantile(values, 0.99)};
}

bool same_streams(const RunRow& run, const RunRow& baseline) {
  if (run.model.hash != baseline.model.hash) return false;
  const bool greedy = run.config.value("temperature", 0.0) == 0;
  return (greedy && find_decoder(run.decoder).exact && run.form == baseline.form) ||
         both_ask_one_by_one(baseline, run);
}

}  // namespace

bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run) {
  return !run.oracle && run.form == "value" && baseline.form == "value";
}

void add_examples_per_second(ArmFinding& arm, Store& store, double confidence) {
  Sums<std::string> blocks;  // a run paired with itself: its own blocks
  for (const auto& block : store.block_pairs(arm.run.run.id, arm.run.run.id)) {
    blocks.add(block.key, static_cast<double>(block.examples), seconds(block.method.wall_ns));
    ++arm.measurements;
    arm.disturbed += disturbed(block.method, arm.run.run.threads);
  }
  const auto all = blocks.all();
  arm.blocks = std::ssize(all);
  arm.examples_per_second = interval_over(all, confidence);
}

std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence) {
  Sums<std::string> measured, quiet;
  Sums<int> repeats;
  Speedup speedup{};
  for (const auto& pair : store.block_pairs(baseline.id, method.id)) {
    const auto add = [&](auto& sums, const auto& key, const BlockTime& theirs,
                         const BlockTime& ours) {
      sums.add(key, seconds(theirs.wall_ns), seconds(ours.wall_ns));
    };
    ++speedup.measurements;
    add(measured, pair.key, pair.baseline, pair.method);
    add(repeats, pair.repeat, pair.baseline, pair.method);
    speedup.traced = speedup.traced || pair.baseline.use.traced || pair.method.use.traced;
    const auto is_quiet = [&](const BlockTime& theirs, const BlockTime& ours) {
      return !disturbed(theirs, baseline.threads) && !disturbed(ours, method.threads);
    };
    if (is_quiet(pair.baseline, pair.method)) {
      add(quiet, pair.key, pair.baseline, pair.method);
      continue;
    }
    ++speedup.disturbed;
    if (!pair.repaired) continue;
    ++speedup.repaired;
    if (is_quiet(pair.repaired->first, pair.repaired->second))
      add(quiet, pair.key, pair.repaired->first, pair.repaired->second);
    else
      ++speedup.in_vain;
  }
  const auto all = measured.all();
  if (all.empty()) return std::nullopt;
  speedup.blocks = std::ssize(all);
  speedup.ratio = interval_over(all, confidence);
  if (speedup.disturbed > 0) speedup.quiet = interval_over(quiet.all(), confidence);
  if (const auto of = repeats.all(); of.size() > 1)
    for (const BlockPair& pair : of) speedup.of_repeats.push_back(pair.baseline / pair.method);
  return speedup;
}

bool is_within(const Interval& ratio, double share) {
  return std::isfinite(ratio.high - ratio.low) &&
         (ratio.high - ratio.low) / 2 <= share * ratio.estimate;
}

Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunAnswers& answers) {
  const RunSummary& run = arm.run;
  Speeds speeds{kNone, kNone, kNone, kNone, std::nullopt, std::nullopt};
  if (run.measured_wall_ns > 0 && (!baseline || same_streams(run.run, baseline->run.run)))
    speeds.tokens_per_second =
        static_cast<double>(run.measured_chosen) / seconds(run.measured_wall_ns);
  if (run.measured_wall_ns > 0 && run.measured.passes > 0)
    speeds.forwards_per_second =
        static_cast<double>(run.measured.passes) / seconds(run.measured_wall_ns);
  if (run.run.batch_size == 1 && run.totals.prefill_ns > 0)
    speeds.prompt_tokens_per_second =
        static_cast<double>(run.totals.prompt_tokens) / seconds(run.totals.prefill_ns);
  std::vector<double> latencies, first_tokens;
  for (const auto& [key, answered] : answers.by_sample) {
    if (answered.job->error) continue;
    const JobCounters& counters = answered.job->counters;
    latencies.push_back(seconds(counters.total_ns));
    if (counters.first_token_ns) first_tokens.push_back(seconds(*counters.first_token_ns));
  }
  speeds.latency = percentiles(latencies);
  speeds.first_token = percentiles(first_tokens);
  return speeds;
}

}  // namespace pardec
