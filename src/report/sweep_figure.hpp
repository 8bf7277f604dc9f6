#pragma once
#include <string>

#include "src/report/figure.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects the figure that `plot` draws.
struct Sweep {
  /// batch_size, cache_blocks, seed, date, checkpoint, or DECODER.OPTION (an option that is a
  /// number), e.g. hpd.k_max
  std::string x;
  std::string y;             ///< key of a column of numbers in the comparison's table, e.g. speedup
  std::string run;           ///< names an invocation (find_invocation); empty: see sweep_figure
  double confidence = 0.95;  ///< of the intervals
};

/// Draws y over x. Arms with the same decoder and the same settings except x form one line per
/// dataset. The names of lines have the settings that differ. If `run` is empty, all invocations
/// with the network, dtype, device, threads and oracle of the newest invocation are used; if two
/// invocations have the same point, the newer one counts. If `run` is empty and x is `date`, all
/// invocations with the oracle of the newest one are used. If x is `checkpoint`, the networks may
/// be all that lie in one folder with the newest one. ConfigError: no run has this x, the
/// comparisons have no column of numbers y, no run has both, or there is no invocation `run`.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
