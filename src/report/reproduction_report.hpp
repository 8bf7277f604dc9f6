#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/reproduction_table.hpp"

namespace pardec {

/// The tables at the top of a page: the verdicts on all claims of these items (if there are
/// claims), the table of each item (ReproducedItem::table) if that table has rows, and one table
/// that lists all other items and says why they have no measured number.
std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items);

/// Adds items to the page of the run that measured them: their tables (reproduction_tables), and
/// their printed figures (ReproducedItem::figures) before the figures of the run. Errors: see
/// add_figures.
void add_items(Report& report, const std::vector<ReproducedItem>& items);

/// Builds the page with the results of `reproduce` for some items.
class ReproductionReport {
 public:
  /// Adds the figures and facts of a run that measured items. A run that was added already
  /// (Overview::invocation) is not added again, so the caller may call this function for each item,
  /// even if several items share a run. REQUIRES: the comparison has at least one arm.
  void add_run(const Comparison& comparison);
  /// The finished page. The figures of the items come before the figures of the runs. Errors: see
  /// add_figures.
  Report of(const std::vector<ReproducedItem>& items) &&;

 private:
  Report report_;
  std::vector<NamedFigure> of_runs_;
  std::vector<std::string> runs_;  // ids of invocations
};

}  // namespace pardec
