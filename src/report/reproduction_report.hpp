#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/reproduction_table.hpp"

namespace pardec {

/// The first tables of a page: the verdicts on all claims of these items, if there are any, then
/// each item's own table, and one table for all items without numbers.
std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items);

/// The page with the results of `reproduce` for some items.
class ReproductionReport {
 public:
  /// Adds figures and facts of a run that items were measured by; once, even if several items share
  /// it.
  void add_run(const Comparison& comparison);
  /// The page, with the items' own figures first.
  Report of(const std::vector<ReproducedItem>& items) &&;

 private:
  Report report_;
  std::vector<NamedFigure> of_runs_;
  std::vector<std::string> runs_;  // ids of invocations
};

}  // namespace pardec
