#pragma once
#include "src/findings/comparison.hpp"

/// Compares measured speeds with the limits of the hardware, from counts in the store (without
/// traces); and, from traces, computes the largest possible speedup.
namespace pardec {

/// The total work of the passes of jobs, from stored counters.
struct CountedWork {
  std::int64_t passes = 0;    ///< passes of the network
  std::int64_t fed = 0;       ///< rows
  std::int64_t chosen = 0;    ///< rows whose logits were read; a lower bound
  std::int64_t cached = 0;    ///< cached rows after each pass, summed over sequences and passes
  std::int64_t attended = 0;  ///< number of pairs of a row and a row that it attends to
};

/// The least time that this work takes, in seconds: the larger of the time for memory traffic (all
/// weights once per pass, and keys and values attended to) and the time for computation. Lower than
/// the bound from a trace, which takes the larger of the two for each pass.
double least_seconds(const CountedWork& work, const NetworkSize& network, const Hardware& hardware);

/// Adds the comparison's machines and, for the first machine in `options.hardware`, the arms'
/// Speeds::roofline_share. Arms have no share if they were not measured as a whole, if they had
/// failures, passes of a draft network or skipped sublayers, or if their network is no longer at
/// its path.
/// Also adds the largest possible speedup on each machine, for arms whose traces in
/// `options.traced` have the same examples as their baseline's.
/// ConfigError: the hardware is `here`, but the runs were measured on another machine or on a
/// GPU.
void add_rooflines(Comparison& comparison, const CompareOptions& options);

}  // namespace pardec
