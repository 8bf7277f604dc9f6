#pragma once
#include "src/findings/comparison.hpp"

/// Compares measured speeds with the limits of the hardware. The share of the roofline is computed
/// from counters in the store; the largest possible speedup is computed from traces.
namespace pardec {

/// The total work of some jobs' passes, from stored counters.
struct CountedWork {
  std::int64_t passes = 0;  ///< number of passes of the network
  std::int64_t fed = 0;     ///< number of rows computed
  /// number of generated tokens, a lower bound of the number of rows with logits
  std::int64_t chosen = 0;
  std::int64_t cached = 0;    ///< cached rows after each pass, summed over sequences and passes
  std::int64_t attended = 0;  ///< number of (query row, key row) pairs in attention
  std::int64_t experts = 0;   ///< number of experts read, summed over layers and passes
};

/// The least time for this work on the machine, in seconds. It is the largest of three times, each
/// for all passes together: the times for memory traffic, for computation, and for the exchange of
/// sums between several devices (pass_bound). Memory traffic consists of the weights in each pass,
/// the embedding of each computed row, and the attended keys and values. Of the experts' weights,
/// only the experts that were read count (CountedWork::experts).
///
/// The bound from a trace (roofline.hpp) is usually higher, because it takes the largest of the
/// three times for each pass separately. For networks with experts, the bound from a trace can be
/// lower: a trace does not record which experts were read, so only the experts of one row count.
double least_seconds(const CountedWork& work, const NetworkSize& network, const Hardware& hardware);

/// Adds to `comparison` the machines in `options.hardware`, Speeds::roofline_share of the arms on
/// the first machine, and ArmDetails::allowed on all machines. roofline_share stays NaN in these
/// cases:
///   - a service answers the arm
///   - the arm has failed jobs, or blocks without a measured time
///   - the arm has a draft network, or drafting passes that are in no trace
///   - the arm's network is no longer at its path
///
/// `allowed` is set for arms whose traces, and whose baseline's traces, are of the same examples
/// (`options.traced`). If a machine is `here`, sets the number of threads of this process to the
/// run's number. ConfigError: a machine is `here`, but an arm was measured on another machine or on
/// a GPU. Other errors: see read_hardware. REQUIRES: `options.hardware` is not empty.
void add_rooflines(Comparison& comparison, const CompareOptions& options);

}  // namespace pardec
