#pragma once
#include <string>
#include <string_view>

#include "src/findings/accounting.hpp"
#include "src/findings/by_category.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The table of `compare`, with one row for each arm on each dataset. results/table.md explains the
/// columns. An arm that could not be run on a dataset has a row with "n/a" as its speedup. csv and
/// json have the reason in this row; the other formats have the reason in a note. By default, text,
/// md and latex show the speedup with its interval, the difference of the first score with its
/// interval, the verdict, the score, and tokens per pass. If machines were requested
/// (CompareOptions::hardware), these formats also show the columns about rooflines. The other
/// columns are wide (choose_columns) or only in csv and json: concurrent jobs, speeds, share of
/// identical answers, all scores with their differences, and the decoders' own counts. The
/// conclusion has one recommendation for each dataset (recommendations). REQUIRES: the comparison
/// has at least one arm.
Table comparison_table(const Comparison& comparison);

/// A table with one row for each arm and one column for each dataset. Each cell has the dataset's
/// headline score, the speedup over the baseline, and the tokens per forward pass. If the arm could
/// not be run, the cell is "n/a", and a note gives the reason. If the arm was not planned for the
/// dataset, the cell is "-". REQUIRES: the comparison has at least one arm.
Table matrix_table(const Comparison& comparison);

/// A table of the speeds and scores of each arm on the examples of each category, with one row for
/// each entry of `findings`. REQUIRES: `findings` is the result of by_category for `comparison`.
Table category_table(const Comparison& comparison, const std::vector<CategoryFinding>& findings);

/// A table of the tokens that each arm computed, generated and cached, and of the arm's time in
/// seconds. If the first account has a price (ArmAccount::usd_per_thousand), the table has a column
/// of prices. REQUIRES: `accounts` is not empty; either all accounts have a price, or none has one.
Table accounting_table(const std::vector<ArmAccount>& accounts);

/// A table of the answers in `answers.first`, with a note about DifferingAnswers::count.
Table differences_table(const DifferingAnswers& answers);

/// The text in the speedup column of a baseline.
inline constexpr const char* kBaselineSpeedup = "baseline";

/// The mean number of jobs in a forward pass and the requested batch size, e.g. "7.4 of 8". If the
/// mean is not known: only the batch size.
std::string shown_in_flight(const ArmFinding& arm);

}  // namespace pardec
