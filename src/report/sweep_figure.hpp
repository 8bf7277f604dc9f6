#pragma once
#include <string>

#include "src/report/figure.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects the figure that the verb `plot` draws.
struct Sweep {
  /// What is on the horizontal axis: batch_size, cache_blocks, seed, or DECODER.OPTION (an option
  /// that is a number), e.g. hpd.k_max; or date (the time at which a run started), or checkpoint
  /// (the number of updates in the network's training).
  std::string x;
  std::string y;  ///< key of a column of numbers in comparison_table, e.g. speedup
  /// names the invocation that is drawn (find_invocation); empty: several are drawn, see
  /// sweep_figure
  std::string run;
  double confidence = 0.95;  ///< of the intervals
};

/// The figure of y over x, to be drawn with draw(). Arms with the same dataset, the same decoder
/// and the same settings except x form one line. The names of lines have the settings that differ.
///
/// If `run` is empty, all invocations are used that have the network, dtype, device, threads and
/// oracle of the newest invocation. There are two exceptions. If x is `date`, only the oracle must
/// be the same. If x is `checkpoint`, the networks may differ, but must be in the same folder as
/// the newest invocation's network. If two invocations have the same point, the newer invocation
/// counts.
///
/// ConfigError: no run has this x, comparison_table has no column of numbers y, no run has both
/// x and y, there is no invocation `run`, or the store is empty. StoreError and DataError: see
/// store.hpp.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
