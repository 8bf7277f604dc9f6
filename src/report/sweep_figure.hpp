#pragma once
#include <string>

#include "src/report/figure.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects the figure that `plot` draws.
struct Sweep {
  std::string x;    ///< batch_size, date, or DECODER.OPTION, e.g. hpd.k_max
  std::string y;    ///< a key of the comparison's table, e.g. speedup
  std::string run;  ///< prefix of an invocation's or run's id; empty: see sweep_figure
  double confidence = 0.95;
};

/// Draws y over x. Arms with the same decoder and the same options except x form one line per
/// dataset. If `run` is empty, all invocations with the network, dtype, device, threads and oracle
/// of the newest invocation are used; if two invocations have the same point, the newer one counts.
/// If x is `date`, all invocations are used, and the names of lines include settings that differ.
/// ConfigError: no run has this x, comparisons have no column y, no run has both, or there is no
/// invocation `run`.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
