#pragma once
#include <optional>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// Adds examples per second over the blocks that were measured as a whole, and the number of these
/// blocks.
void add_examples_per_second(ArmFinding& arm, const MeasuredBlocks& measured, double confidence);

/// Whether other processes took a significant share of the machine while a block was measured.
bool is_disturbed(const BlockTime& time, int threads);

/// A run and its measurements.
struct MeasuredRun {
  const RunRow& run;
  const MeasuredBlocks& measured;
};
/// None: the runs have no block in common.
std::optional<Speedup> speedup_of(const MeasuredRun& baseline, const MeasuredRun& method,
                                  double confidence);

/// Same, for two stored runs.
std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence);

/// Whether half the width of the interval is at most `share` of the estimate; false without ends.
bool is_within(const Interval& ratio, double share);

/// Latencies of answers are those of their jobs. Tokens per second are only set where they can be
/// compared: for a baseline itself (`baseline` is null), for decoders that generate the baseline's
/// ids by construction, and if both arms ask field by field; and for services, which are compared
/// with no decoder.
Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunFigures& figures);

/// Whether two runs generate the same ids by construction: the same network and prompts, greedy,
/// and decoders that do not change the result.
bool same_by_construction(const RunRow& run, const RunRow& other);

/// Whether the run generated the same answers as its baseline, as by same_by_construction: every
/// answer equals the baseline's, and none failed.
bool gave_same_answers(const RunSummary& run, const RunRow& baseline);

/// IPPD's EM, and tokens per second, are only meaningful if both arms ask for one field at a time.
bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run);

}  // namespace pardec
