#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/reproduction_table.hpp"

namespace pardec {

/// The tables at the top of a page: the verdicts on all claims of these items (if there are
/// claims), one table for each item that has measured numbers, and one table that lists all other
/// items.
std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items);

/// Builds the page with the results of `reproduce` for some items.
class ReproductionReport {
 public:
  /// Adds the figures and facts of a run that measured items. A run that several items share is
  /// added once.
  void add_run(const Comparison& comparison);
  /// The finished page. The figures of the items precede the figures of the runs.
  Report of(const std::vector<ReproducedItem>& items) &&;

 private:
  Report report_;
  std::vector<NamedFigure> of_runs_;
  std::vector<std::string> runs_;  // ids of invocations
};

}  // namespace pardec
