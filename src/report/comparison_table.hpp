#pragma once
#include <string>
#include <string_view>

#include "src/findings/accounting.hpp"
#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The arms of an invocation side by side, one row an arm of a dataset: what was in flight, speed,
/// ratio to the baseline with its interval, tokens per forward, share of identical answers, scores
/// with their differences, counts of the decoders' own.
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
inline constexpr const char* kBaselineSpeedup = "1 (baseline)";

/// How a total is called in tables, e.g. "F1 micro".
std::string score_header(std::string_view total);

/// "7.4 of 8": jobs in flight, of those that were asked for.
std::string shown_in_flight(const ArmFinding& arm);

}  // namespace pardec
