#pragma once
#include <string>
#include <string_view>

#include "src/findings/accounting.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The arms of an invocation, one row per arm and dataset. By default, people see the speedup with
/// its interval, the difference of the first score with its interval, the verdict, the score and
/// tokens per pass. All other columns are wide (choose_columns): concurrent jobs, speeds, share of
/// identical answers, all scores with their differences, the decoders' own counts. The conclusion
/// is a recommendation.
Table comparison_table(const Comparison& comparison);

/// One row per arm and one column per dataset. Each cell has the dataset's headline score, the
/// speedup over the baseline and the tokens per forward pass; "n/a" if the arm could not be run,
/// with the reason in a note.
Table matrix_table(const Comparison& comparison);

/// The tokens that each arm computed, generated and cached.
Table accounting_table(const std::vector<ArmAccount>& accounts);

/// The table of `answers.first`.
Table differences_table(const DifferingAnswers& answers);

/// The text in the speedup column for an arm that others are compared with.
inline constexpr const char* kBaselineSpeedup = "baseline";

/// "7.4 of 8": the mean number of jobs in a forward pass, and the requested batch size.
std::string shown_in_flight(const ArmFinding& arm);

}  // namespace pardec
