#pragma once
#include <optional>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// Examples a second over the blocks that were measured whole, and how many these are.
void add_examples_per_second(ArmFinding& arm, const MeasuredBlocks& measured, double confidence);

/// Whether others had a share of the machine that counts while a block was measured.
bool is_disturbed(const BlockTime& time, int threads);

/// A run, and what was measured of it.
struct MeasuredRun {
  const RunRow& run;
  const MeasuredBlocks& measured;
};
/// None where the two share no block.
std::optional<Speedup> speedup_of(const MeasuredRun& baseline, const MeasuredRun& method,
                                  double confidence);

/// The same of two stored runs.
std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence);

/// Whether half of the interval is at most `share` of the estimate; never without ends.
bool is_within(const Interval& ratio, double share);

/// Times of answers are those of their jobs. Tokens a second are compared only where the streams
/// are the baseline's by construction: of `baseline` itself (null: it has none), of decoders that
/// give its ids, and where both ask field by field.
Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunFigures& figures);

/// Whether two runs write the same ids by design: the same network and prompts, greedily, and
/// decoders that change nothing of it.
bool same_by_construction(const RunRow& run, const RunRow& other);

/// Whether a run did so: every answer is the baseline's, none failed.
bool gave_same_answers(const RunSummary& run, const RunRow& baseline);

/// IPPD's EM, and tokens a second, have a sense where both arms ask one by one.
bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run);

}  // namespace pardec
