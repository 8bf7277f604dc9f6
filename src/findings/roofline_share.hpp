#pragma once
#include "src/findings/comparison.hpp"

/// Compares measured speeds with the limits of the hardware. The share of the roofline is computed
/// from counters in the store; the largest possible speedup is computed from traces.
namespace pardec {

/// The total work of some jobs' passes, from stored counters.
struct CountedWork {
  std::int64_t passes = 0;    ///< number of passes of the network
  std::int64_t fed = 0;       ///< number of rows computed
  std::int64_t chosen = 0;    ///< number of generated tokens; at least so many rows have logits
  std::int64_t cached = 0;    ///< cached rows after each pass, summed over sequences and passes
  std::int64_t attended = 0;  ///< number of (query row, key row) pairs in attention
  std::int64_t experts = 0;   ///< number of experts read, summed over layers and passes
};

/// The least time for this work on the machine, in seconds. Three times are computed for all passes
/// together, and the largest counts: memory traffic, computation, and the exchange of sums between
/// several devices (pass_bound). In each pass, memory traffic is all weights and the attended keys
/// and values; of the experts, only those that the pass reads.
///
/// The bound from a trace (roofline.hpp) is usually higher, because it takes the largest of the
/// times for each pass. For networks with experts, it can be lower: a trace does not record which
/// experts were read, so the bound from a trace counts only the experts of one row.
double least_seconds(const CountedWork& work, const NetworkSize& network, const Hardware& hardware);

/// Adds to `comparison` the machines in `options.hardware`, Speeds::roofline_share of the arms on
/// the first machine, and ArmDetails::allowed on all machines. An arm has no share if it is a
/// service, has blocks without a time, failed jobs, a draft network, or drafting passes that are in
/// no trace, or if its network is no longer at its path. `allowed` needs traces of the arm and of
/// its baseline on the same examples (`options.traced`). If a machine is `here`, sets the number of
/// threads of this process to the run's number. ConfigError: a machine is `here`, but an arm was
/// measured on another machine or on a GPU. Other errors: see read_hardware. REQUIRES:
/// `options.hardware` is not empty.
void add_rooflines(Comparison& comparison, const CompareOptions& options);

}  // namespace pardec
