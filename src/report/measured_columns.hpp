#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// "[low, high]more", with the two ends as its value; empty if the ends are not known.
Cell interval_cell(const Interval& interval, int decimals, const std::string& more = "");
/// The two ends, or nulls if they are not known.
Json ends_of(const Interval& interval);
/// "[low, high]" of a ratio, which says whether the interval contains 1; empty if the ends are not
/// known.
Cell ratio_interval_cell(const Interval& ratio);
/// "+0.012 [-0.010, +0.034]"; the ends only if they are known.
std::string difference_text(const Interval& difference);

/// Common measures of speed, the noise of their measurement, and how answers ended. Most columns
/// are for programs. forwards/s is also for people if shares of a roofline were requested. If an
/// arm has thoughts, their ids and those after them are separate columns.
std::vector<Column> measured_columns(const Comparison& comparison);
void add_measured_cells(std::vector<Cell>& cells, const Comparison& comparison,
                        const ArmFinding& arm);

}  // namespace pardec
