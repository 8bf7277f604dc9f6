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
/// The speedup of `method` over `baseline`. None: the runs have no measured block in common
/// (block_pairs). REQUIRES: both MeasuredBlocks are from one call of Store::figures or
/// Store::blocks.
std::optional<Speedup> speedup_of(const MeasuredRun& baseline, const MeasuredRun& method,
                                  double confidence);

/// The same, but reads the measurements from the store. StoreError: the database cannot be read.
std::optional<Speedup> speedup_of(Store& store, const RunRow& baseline, const RunRow& method,
                                  double confidence);

/// Whether half the width of the interval is at most `share` times the estimate, e.g. `share` 0.02
/// for 2 %. False if the ends are NaN.
bool is_within(const Interval& ratio, double share);

/// The measures of an arm's speed, except roofline_share, which add_rooflines sets. The latency of
/// an answer is the latency of its job. `baseline`: null if the arm has none. `figures`: the stored
/// counts and times of the arm. Tokens per second are set only for arms whose numbers of tokens can
/// be compared with the baseline's:
///   - arms without a baseline
///   - arms that a service answers
///   - arms with an exact decoder that generate the baseline's ids (same_by_construction)
///   - arms that ask field by field and run the baseline's network, if the baseline asks field by
///     field, too
Speeds speeds_of(const ArmFinding& arm, const ArmFinding* baseline, const RunFigures& figures);

/// Whether both runs generate the same ids by construction. This is so if both runs have the same
/// network and the same form of prompts, if both are greedy, and if the decoder of each run is `ar`
/// or exact (DecoderEntry::exact).
/// ConfigError: a decoder is unknown.
bool same_by_construction(const RunRow& run, const RunRow& other);

/// Whether same_by_construction holds, `run` has no oracle, no answer failed, and every answer was
/// compared with the baseline's answer and found equal. ConfigError: see same_by_construction.
bool gave_same_answers(const RunSummary& run, const RunRow& baseline);

/// Whether both arms ask for one field at a time (form value), and `run` has no oracle. Only then
/// can IPPD's EM be computed (add_exact).
bool both_ask_one_by_one(const RunRow& baseline, const RunRow& run);

}  // namespace pardec
