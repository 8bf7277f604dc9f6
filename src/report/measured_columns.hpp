#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// A cell with the text "[low, high]" followed by `more`, and with ends_of() as its value. If the
/// ends are not known: no_cell().
Cell interval_cell(const Interval& interval, int decimals, const std::string& more = "");
/// The JSON list [low, high]; an end that is not known is null.
Json ends_of(const Interval& interval);
/// A cell with the interval of a ratio. The text says whether the interval contains 1. If the ends
/// are not known: no_cell().
Cell ratio_interval_cell(const Interval& ratio);
/// A difference as text, "+0.012 [-0.010, +0.034]"; "+0.012" if the ends are not known.
std::string difference_text(const Interval& difference);

/// Columns for common measures of speed (Speeds), for disturbances of the measurement (Speedup),
/// and for how answers ended (AnswerState). Most of these columns are in csv and json only.
/// forwards/s is also in text if a machine was requested (CompareOptions::hardware). If the answers
/// of an arm contain thoughts, the tokens of the thoughts and the tokens after the thoughts have
/// columns, too.
std::vector<Column> measured_columns(const Comparison& comparison);
/// Appends the cells of measured_columns() for one arm.
void add_measured_cells(std::vector<Cell>& cells, const Comparison& comparison,
                        const ArmFinding& arm);

}  // namespace pardec
