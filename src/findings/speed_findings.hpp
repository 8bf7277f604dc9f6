#pragma once
#include <optional>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// Sets examples_per_second, blocks, measurements, disturbed and taken of `arm`, from the blocks
/// that were measured completely.
void add_examples_per_second(ArmFinding& arm, const MeasuredBlocks& measured, double confidence);

/// Whether others took at least kDisturbedShare of the core time of `threads` threads while a block
/// was measured (taken_share). False if the share is not known.
bool is_disturbed(const BlockTime& time, int threads);

/// A stored run and the measurements of its blocks.
struct MeasuredRun {
  const RunRow& run;
  const MeasuredBlocks& measured;
};
/// The speedup of `method` over `baseline`. None: the runs have no measured block in common.
std::optional<Speedup> speedup_of(const MeasuredRun& baseline, const MeasuredRun& method,
                                  double confidence);

/// The speedup of `method` over `baseline`, from the measurements in the store. None: the runs have
/// no measured block in common.
std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence);

/// Whether half the width of the interval is at most `share` times the estimate. False if the ends
/// are NaN.
bool is_within(const Interval& ratio, double share);

/// The measures of an arm's speed, except roofline_share, which add_rooflines sets. An answer has
/// the latency of its job. Tokens per second are set only if they can be compared: for a baseline
/// itself (`baseline` is null), for decoders that generate the baseline's ids by construction, if
/// both arms ask the same network field by field, and for services.
Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunFigures& figures);

/// Whether both runs generate the same ids by construction: they have the same network and the same
/// form of prompts, are greedy, and their decoders are `ar` or exact (DecoderEntry::exact).
bool same_by_construction(const RunRow& run, const RunRow& other);

/// Whether same_by_construction holds, every answer was compared and equals the baseline's, no
/// answer failed, and `run` has no oracle.
bool gave_same_answers(const RunSummary& run, const RunRow& baseline);

/// Whether both arms ask for one field at a time, and `run` has no oracle. IPPD's EM needs this.
bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run);

}  // namespace pardec
