#pragma once
#include <string>

#include "src/report/figure.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Which figure `plot` draws.
struct Sweep {
  std::string x;    ///< batch_size, DECODER.OPTION, e.g. hpd.k_max, or date
  std::string y;    ///< a key of the comparison's table, e.g. speedup
  std::string run;  ///< first characters of an invocation's or run's id; empty: see below
  double confidence = 0.95;
};

/// y over x, one line a dataset and arm family (equal decoder and other options). Without `run`:
/// all invocations of the newest one's network, type, device, threads and oracle; where two have
/// the same point, the newer one's counts. Over `date`: all invocations, whatever their settings;
/// those that differ tell lines apart. ConfigError for an x or y that no run has.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
