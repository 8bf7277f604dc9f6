#pragma once
#include "src/findings/comparison.hpp"

/// Compares measured speeds with the limits of the hardware. The share of the roofline is computed
/// from counters in the store; the largest possible speedup is computed from traces.
namespace pardec {

/// The total work of some jobs' passes, from stored counters.
struct CountedWork {
  std::int64_t passes = 0;    ///< number of passes of the network
  std::int64_t fed = 0;       ///< number of rows computed
  std::int64_t chosen = 0;    ///< number of tokens chosen: a lower bound on the rows with logits
  std::int64_t cached = 0;    ///< cached rows after each pass, summed over sequences and passes
  std::int64_t attended = 0;  ///< number of (query row, key row) pairs in attention
  std::int64_t experts = 0;   ///< number of experts read, summed over layers and passes
};

/// The least time for this work, in seconds. It is the larger of two times: for memory traffic (all
/// weights once per pass, of the experts those that the passes read, and the attended keys and
/// values), and for computation. The bound from a trace is higher, because it takes the larger of
/// the two for each pass; but of the experts it counts those of one row, since a trace does not
/// have the others.
double least_seconds(const CountedWork& work, const NetworkSize& network, const Hardware& hardware);

/// Adds the comparison's machines and, for the first machine in `options.hardware`, the arms'
/// Speeds::roofline_share. Arms have no share if they are services, if they were not measured as a
/// whole, if they had failures, passes of a draft network or skipped sublayers, or if their network
/// is no longer at its path. Also adds the largest possible speedup on each machine, for arms whose
/// traces in `options.traced` have the same examples as the baseline's traces. ConfigError: the
/// hardware is `here`, but the runs were measured on another machine or on a GPU. Other errors: see
/// read_hardware.
void add_rooflines(Comparison& comparison, const CompareOptions& options);

}  // namespace pardec
