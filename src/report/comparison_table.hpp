#pragma once
#include <string>
#include <string_view>

#include "src/findings/accounting.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The arms of an invocation side by side, one row an arm of a dataset. People see speedup with its
/// interval, difference of the first score with its own, verdict, score and tokens per pass; the
/// rest is wide (choose_columns): what was in flight, speeds, share of identical answers, all
/// scores with their differences, counts of the decoders' own. Its conclusion is a recommendation.
Table comparison_table(const Comparison& comparison);

/// The same as one row an arm and one column a dataset, each cell the dataset's headline score, the
/// speedup over the baseline and the tokens per forward; "n/a" where the arm could not be run, with
/// the reason in a note.
Table matrix_table(const Comparison& comparison);

/// What each arm fed, chose and cached.
Table accounting_table(const std::vector<ArmAccount>& accounts);

/// The first `limit` of them, 0: all.
Table differences_table(const DifferingAnswers& answers);

/// What stands as the speedup of an arm that others are compared with.
inline constexpr const char* kBaselineSpeedup = "baseline";

/// "7.4 of 8": the mean number of jobs in a forward pass, and the batch size that was asked for.
std::string shown_in_flight(const ArmFinding& arm);

}  // namespace pardec
