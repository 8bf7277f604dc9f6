// The table of `compare --by category`.
#include <cmath>

#include "src/findings/score_findings.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/measured_columns.hpp"
#include "src/report/metric_title.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The speedup with its interval, and the interval for programs.
std::vector<Cell> speed_cells(const Comparison& comparison, const CategoryFinding& finding) {
  const ArmFinding& arm = comparison.arms[finding.arm];
  if (!finding.speedup)
    return {!arm.baseline && arm.is_baseline ? Cell(kBaselineSpeedup, Json(1.0)) : no_cell(),
            no_cell()};
  Cell interval = ratio_interval_cell(*finding.speedup);
  return {Cell(str(fixed(finding.speedup->estimate, 2),
                   std::isfinite(finding.speedup->low) ? " " + interval.text : "",
                   comparison.is_broken(arm) ? " (broken)" : ""),
               json_of(finding.speedup->estimate)),
          std::move(interval)};
}

/// The headline score, its difference from the baseline's, and their names and ends for programs.
std::vector<Cell> score_cells(const ArmFinding& arm, const CategoryFinding& finding) {
  const std::string_view metric = headline_score(arm);
  const auto score = finding.scores.find(metric);
  if (score == finding.scores.end()) return {no_cell(), no_cell(), no_cell(), no_cell()};
  const auto& difference = score->second.difference;
  return {
      Cell(str(metric_title(metric), " ", fixed(score->second.value.estimate, 3)),
           json_of(score->second.value.estimate)),
      Cell(std::string(metric)),
      difference ? Cell(difference_text(*difference), json_of(difference->estimate)) : no_cell(),
      difference ? interval_cell(*difference, 3) : no_cell()};
}

}  // namespace

Table category_table(const Comparison& comparison, const std::vector<CategoryFinding>& findings) {
  Table table;
  table.title = title_of(comparison) + ", by category";
  table.columns =
      with_dataset({{"category"},
                    {"arm"},
                    {"n", Align::right},
                    {"speedup"},
                    {"speedup interval", Align::left, "speedup_interval", true},
                    {"tokens/s", Align::right, "tokens_per_second"},
                    {"tokens per pass", Align::right, "tokens_per_forward"},
                    {"score", Align::left, "score"},
                    {"metric", Align::left, "score_name", true},
                    {"difference", Align::left, "score_difference"},
                    {"difference interval", Align::left, "score_difference_interval", true}});
  for (Column& column : table.columns)
    if (column.header == "speedup" || column.header == "score" || column.header == "difference")
      column.number = true;
  bool timed = true;
  for (const CategoryFinding& finding : findings) {
    const ArmFinding& arm = comparison.arms[finding.arm];
    std::vector<Cell> cells{finding.category.empty() ? Cell("-", Json("")) : Cell(finding.category),
                            arm.run.run.label, number_cell(finding.examples)};
    for (Cell& cell : speed_cells(comparison, finding)) cells.push_back(std::move(cell));
    const bool known = std::isfinite(finding.tokens_per_second);
    timed = timed && known;
    cells.push_back(known ? number_cell(finding.tokens_per_second, 1) : no_cell());
    cells.push_back(number_cell(finding.tokens_per_forward.estimate, 2));
    for (Cell& cell : score_cells(arm, finding)) cells.push_back(std::move(cell));
    table.rows.push_back(with_dataset(dataset_cells(arm.run.run.dataset), std::move(cells)));
  }
  table.notes.push_back(
      str("speedup: the baseline's time for the examples of the category, divided by the arm's, "
          "with the ",
          percent(comparison.confidence, 0), " interval; intervals need ", kFewestBlocks,
          " examples (of scores: ", kFewestBlocks, " texts)."));
  if (!timed)
    table.notes.push_back(
        "No time by category where `batch_size` is above 1: jobs that run together have no times "
        "of "
        "their own.");
  table.notes.push_back(
      "Categories are small parts of the data. Of 20 intervals, one misses its true value on "
      "average: do not read a single category without the whole table.");
  return table;
}

}  // namespace pardec
