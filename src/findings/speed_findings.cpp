#include "src/findings/speed_findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "src/support/machine_use.hpp"

namespace pardec {

namespace {

const double kNoSpeed = std::nan("");

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Sums costs by key: repeats of a block count as the same block.
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

std::optional<Percentiles> percentiles(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return Percentiles{quantile(values, 0.5), quantile(values, 0.95), quantile(values, 0.99)};
}

bool same_streams(const RunRow& run, const RunRow& baseline) {
  return (find_decoder(run.decoder).exact && same_by_construction(run, baseline)) ||
         (run.model.hash == baseline.model.hash && both_ask_one_by_one(baseline, run));
}

}  // namespace

bool is_disturbed(const BlockTime& time, int threads) {
  return taken_share(time.use.machine, time.wall_ns, threads) >= kDisturbedShare;
}

bool same_by_construction(const RunRow& run, const RunRow& other) {
  const auto greedy_ids = [](const RunRow& one) {
    return one.config.value("temperature", 0.0) == 0 &&
           (one.decoder == kPlainDecoder || find_decoder(one.decoder).exact);
  };
  return run.model.hash == other.model.hash && run.form == other.form && greedy_ids(run) &&
         greedy_ids(other);
}

bool gave_same_answers(const RunSummary& run, const RunRow& baseline) {
  return !run.run.oracle && run.compared > 0 && run.identical == run.compared &&
         run.compared == run.generations && run.failed_generations == 0 &&
         same_by_construction(run.run, baseline);
}

bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run) {
  return !run.oracle && run.form == "value" && baseline.form == "value";
}

void add_examples_per_second(ArmFinding& arm, const MeasuredBlocks& measured, double confidence) {
  Sums<std::int32_t> sums;
  double wall = 0, taken = 0;  // of blocks with known load from other processes
  for (const BlockFigures& block : measured.blocks) {
    sums.add(block.key, static_cast<double>(block.examples), seconds(block.time.wall_ns));
    ++arm.measurements;
    arm.disturbed += is_disturbed(block.time, arm.run.run.threads);
    const double share =
        taken_share(block.time.use.machine, block.time.wall_ns, arm.run.run.threads);
    if (std::isnan(share)) continue;
    wall += seconds(block.time.wall_ns);
    taken += share * seconds(block.time.wall_ns);
  }
  if (wall > 0) arm.taken = taken / wall;
  const auto all = sums.all();
  arm.blocks = std::ssize(all);
  arm.examples_per_second = interval_over(all, confidence);
}

std::optional<Speedup> speedup_of(const MeasuredRun& baseline, const MeasuredRun& method,
                                  double confidence) {
  Sums<std::int32_t> measured, quiet;  // by key, sorted
  Sums<int> repeats;
  Speedup speedup{};
  for (const auto& pair : block_pairs(baseline.measured, method.measured)) {
    const auto add = [&](auto& sums, const auto& key, const BlockTime& theirs,
                         const BlockTime& ours) {
      sums.add(key, seconds(theirs.wall_ns), seconds(ours.wall_ns));
    };
    ++speedup.measurements;
    const auto tells = [](const BlockTime& time, const RunRow& run) {
      return !std::isnan(taken_share(time.use.machine, time.wall_ns, run.threads));
    };
    speedup.load_known += tells(pair.baseline, baseline.run) && tells(pair.method, method.run);
    add(measured, pair.key, pair.baseline, pair.method);
    add(repeats, pair.repeat, pair.baseline, pair.method);
    speedup.traced = speedup.traced || pair.baseline.use.traced || pair.method.use.traced;
    const auto is_quiet = [&](const BlockTime& theirs, const BlockTime& ours) {
      return !is_disturbed(theirs, baseline.run.threads) && !is_disturbed(ours, method.run.threads);
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
      ++speedup.disturbed_again;
  }
  const auto all = measured.all();
  if (all.empty()) return std::nullopt;
  speedup.blocks = std::ssize(all);
  const RobustRatio robust = robust_ratio_of_totals(all, confidence);
  speedup.ratio = with_ends_of(robust.ratio, speedup.blocks);
  speedup.without_outliers =
      with_ends_of(robust.without_outliers, speedup.blocks - robust.outliers());
  speedup.slow_baseline = robust.slow_baseline;
  speedup.slow_method = robust.slow_method;
  if (speedup.disturbed > 0) {
    speedup.quiet = interval_over(quiet.all(), confidence);
    speedup.quiet_blocks = std::ssize(quiet.all());
  }
  if (const auto of = repeats.all(); of.size() > 1)
    for (const BlockPair& pair : of) speedup.of_repeats.push_back(pair.baseline / pair.method);
  return speedup;
}

std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence) {
  const auto runs = store.blocks({baseline, method}).runs;
  return speedup_of({baseline, runs[0].measured}, {method, runs[1].measured}, confidence);
}

bool is_within(const Interval& ratio, double share) {
  return std::isfinite(ratio.high - ratio.low) &&
         (ratio.high - ratio.low) / 2 <= share * ratio.estimate;
}

Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunFigures& figures) {
  const RunSummary& run = arm.run;
  Speeds speeds{kNoSpeed, kNoSpeed, kNoSpeed, kNoSpeed, std::nullopt, std::nullopt};
  if (run.measured_wall_ns > 0 &&
      (!baseline || run.run.device == kService || same_streams(run.run, baseline->run.run)))
    speeds.tokens_per_second =
        static_cast<double>(run.measured_chosen) / seconds(run.measured_wall_ns);
  if (run.measured_wall_ns > 0 && run.measured.passes > 0)
    speeds.forwards_per_second =
        static_cast<double>(run.measured.passes) / seconds(run.measured_wall_ns);
  if (run.run.batch_size == 1 && run.totals.prefill_ns > 0)
    speeds.prompt_tokens_per_second =
        static_cast<double>(run.totals.prompt) / seconds(run.totals.prefill_ns);
  std::vector<double> latencies, first_tokens;
  for (const AnswerFigures& answer : figures.answers) {
    const JobFigures& job = figures.jobs[static_cast<size_t>(answer.job)];
    if (job.failed) continue;
    latencies.push_back(seconds(job.total_ns));
    if (job.first_token_ns > 0) first_tokens.push_back(seconds(job.first_token_ns));
  }
  speeds.latency = percentiles(std::move(latencies));
  speeds.first_token = percentiles(std::move(first_tokens));
  return speeds;
}

}  // namespace pardec
