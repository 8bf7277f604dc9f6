#pragma once
#include <string>

#include "src/report/figure.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects the figure that `plot` draws.
struct Sweep {
  std::string x;    ///< batch_size, DECODER.OPTION, e.g. hpd.k_max, or date
  std::string y;    ///< a key of the comparison's table, e.g. speedup
  std::string run;  ///< prefix of an invocation's or run's id; empty: see below
  double confidence = 0.95;
};

/// y over x, with one line per dataset and family of arms (equal decoder and other options).
/// Without `run`: all invocations with the network, dtype, device, threads and oracle of the newest
/// one; if two have the same point, the newer one counts. Over `date`: all invocations, whatever
/// their settings; settings that differ are part of the lines' names. ConfigError: no run has this
/// x or y.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
