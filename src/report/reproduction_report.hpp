#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/reproduction_table.hpp"

namespace pardec {

/// The verdicts on all claims of these items, where there are any, then each item's own table, and
/// one of those that have no number in theirs: what a page begins with.
std::vector<ReportTable> reproduction_tables(const std::vector<ReproducedItem>& items);

/// The page of what `reproduce` found of some items.
class ReproductionReport {
 public:
  /// Figures and facts of a run that the items were measured by, once however many share it.
  void add_run(const Comparison& comparison);
  /// The page, with the items' own figures first.
  Report of(const std::vector<ReproducedItem>& items) &&;

 private:
  Report report_;
  std::vector<NamedFigure> of_runs_;
  std::vector<std::string> runs_;  // invocations
};

}  // namespace pardec
