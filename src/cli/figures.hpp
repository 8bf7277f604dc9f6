#pragma once
#include <string>
#include <vector>

#include "metrics/statistics.hpp"
#include "src/report/figure.hpp"
#include "src/report/table.hpp"
#include "src/store/store.hpp"

/// Figures from what the store holds. Numbers that the comparison has are taken from its table.
namespace pardec {

/// The value of a cell by its row and its column's key; NaN where there is no number.
double value_at(const Table& table, std::size_t row, const std::string& key);
/// The two ends of an interval cell, with the cell's own value of `key` as the estimate.
Interval interval_at(const Table& table, std::size_t row, const std::string& key,
                     const std::string& interval_key);

/// Examples a second over the blocks measured whole, with a bootstrap over them.
Interval examples_per_second(Store& store, const RunSummary& run, double confidence);
/// Chosen ids per forward pass, with a bootstrap over jobs.
Interval tokens_per_forward(Store& store, const RunSummary& run, double confidence);

struct NamedFigure {
  std::string heading, caption;
  Figure figure;
};

/// What a comparison looks like: speedup, throughput, tokens per forward and their histogram, F1 of
/// the commonest attributes where there are scores. `runs` are the table's rows.
std::vector<NamedFigure> comparison_figures(Store& store, const std::vector<RunSummary>& runs,
                                            const Table& comparison, double confidence);

/// Which figure `plot` draws.
struct Sweep {
  std::string x;    ///< batch_size, or DECODER.OPTION, e.g. hpd.k_max
  std::string y;    ///< a key of the comparison, e.g. speedup
  std::string run;  ///< first characters of an invocation's or run's id; empty: see below
  double confidence = 0.95;
};

/// y over x, one line a dataset and arm family (equal decoder and other options). Without `run`:
/// all invocations of the newest one's network, type, device, threads and oracle; where two have
/// the same point, the newer one's counts. ConfigError for an x or y that no run has.
Figure sweep_figure(Store& store, const Sweep& sweep);

}  // namespace pardec
