#pragma once
#include <string>
#include <string_view>

#include "src/findings/accounting.hpp"
#include "src/findings/by_category.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The table of `compare`, with one row per arm and dataset. Arms that could not be run have a row
/// with the reason (csv and json) and a note. By default, text and md show the speedup with its
/// interval, the difference of the first score with its interval, the verdict, the score, and
/// tokens per pass. If shares of a roofline were requested, text and md also show these. The other
/// columns are wide (choose_columns) or only in csv and json: concurrent jobs, speeds, share of
/// identical answers, all scores with their differences, and the decoders' own counts. The
/// conclusion has one recommendation per dataset. REQUIRES: at least one arm.
Table comparison_table(const Comparison& comparison);

/// A table with one row per arm and one column per dataset. Each cell has the dataset's headline
/// score, the speedup over the baseline, and the tokens per forward pass. If the arm could not be
/// run, the cell is "n/a", and a note gives the reason. If the arm was not planned for the dataset,
/// the cell is "-". REQUIRES: at least one arm.
Table matrix_table(const Comparison& comparison);

/// A table with one row per dataset, category and arm.
Table category_table(const Comparison& comparison, const std::vector<CategoryFinding>& findings);

/// A table of the tokens that each arm computed, generated and cached, and of its seconds. If the
/// first account has costs in USD, it has a column for them, and all accounts must have them.
/// REQUIRES: `accounts` is not empty.
Table accounting_table(const std::vector<ArmAccount>& accounts);

/// A table of the differing answers in `answers.first`.
Table differences_table(const DifferingAnswers& answers);

/// The text in the speedup column of a baseline.
inline constexpr const char* kBaselineSpeedup = "baseline";

/// "7.4 of 8": the mean number of jobs in a forward pass, and the requested batch size. If the mean
/// is not known: only the batch size.
std::string shown_in_flight(const ArmFinding& arm);

}  // namespace pardec
