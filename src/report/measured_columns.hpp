#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// "[low, high]more", its value the two ends; nothing where they are not known.
Cell interval_cell(const Interval& interval, int decimals, const std::string& more = "");
/// The two ends, null where they are not known.
Json ends_of(const Interval& interval);
/// "[low, high]" of a ratio, which says where it holds 1; nothing where the ends are not known.
Cell ratio_interval_cell(const Interval& ratio);
/// "+0.012 [-0.010, +0.034]", the ends where they are known.
std::string difference_text(const Interval& difference);

/// Speeds as they are known elsewhere, how steadily they were measured, how the answers ended. Most
/// are for programs; forwards/s are for people, too, where their shares of a roofline were asked
/// for. Ids of thought and of what stands after it are apart where an arm has thought.
std::vector<Column> measured_columns(const Comparison& comparison);
void add_measured_cells(std::vector<Cell>& cells, const Comparison& comparison,
                        const ArmFinding& arm);

}  // namespace pardec
