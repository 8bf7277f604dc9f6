#pragma once
#include "src/findings/run_list.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// A table with one row for each invocation in `list`.
Table run_list_table(const RunList& list);

/// A table that compares several invocations, with one row for each arm, dataset and invocation
/// (AcrossRow). Arms with an entry in AcrossRuns::sittings have a further row, with the combined
/// speedup. The notes say in which settings each invocation differs from the first invocation.
Table across_table(const AcrossRuns& across);

}  // namespace pardec
