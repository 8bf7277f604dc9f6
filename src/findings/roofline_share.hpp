#pragma once
#include "src/findings/comparison.hpp"

/// How near measured speeds come to what the hardware allows, from what a store counts, with no
/// trace; and from traces, the speedup that it allows.
namespace pardec {

/// What the passes of jobs did in sum, as they are stored.
struct CountedWork {
  std::int64_t passes = 0;    ///< of the network
  std::int64_t fed = 0;       ///< rows
  std::int64_t chosen = 0;    ///< rows whose logits were read, at least
  std::int64_t cached = 0;    ///< rows that were alive after each pass, summed over sequences
  std::int64_t attended = 0;  ///< pairs of a row and one that it sees
};

/// The seconds that this takes at least: the larger of moving (all weights once a pass, and the
/// keys and values that are seen) and computing. Less than what `roofline` says of a trace, which
/// takes the larger pass by pass.
double least_seconds(const CountedWork& work, const NetworkSize& network, const Hardware& hardware);

/// Adds the comparison's machines and, of the first machine of `options.hardware`, the arms'
/// Speeds::roofline_share. Those have none that were not measured whole, had failures, passes of a
/// draft network or sublayers skipped, or a network that is not at its place any more.
/// Adds what each machine allows, too, to arms that `options.traced` has of the same examples as
/// their baseline. `here`: ConfigError where the runs were measured on another machine, or on a
/// GPU.
void add_rooflines(Comparison& comparison, const CompareOptions& options);

}  // namespace pardec
