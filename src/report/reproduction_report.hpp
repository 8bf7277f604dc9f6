#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/reproduction_table.hpp"

namespace pardec {

/// The tables at the top of a page: the verdicts on all claims of these items (if there are
/// claims), the table of each item (ReproducedItem::table) if it has rows, and one table that lists
/// all other items with the reason.
std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items);

/// Adds the tables of the items (reproduction_tables) to the page of a run that measured these
/// items, and their printed figures (ReproducedItem::figures) before its own. Figures are drawn as
/// in add_figures, with its errors.
void add_items(Report& report, const std::vector<ReproducedItem>& items);

/// Builds the page with the results of `reproduce` for some items.
class ReproductionReport {
 public:
  /// Adds the figures and facts of a run that measured items. A run that several items share is
  /// added once. REQUIRES: the comparison has at least one arm.
  void add_run(const Comparison& comparison);
  /// The finished page. The figures of the items precede the figures of the runs. Figures are drawn
  /// as in add_figures, with its errors.
  Report of(const std::vector<ReproducedItem>& items) &&;

 private:
  Report report_;
  std::vector<NamedFigure> of_runs_;
  std::vector<std::string> runs_;  // ids of invocations
};

}  // namespace pardec
