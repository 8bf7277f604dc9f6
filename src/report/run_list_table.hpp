#pragma once
#include "src/findings/run_list.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// A table of the invocations in a database, one row each.
Table run_list_table(const RunList& list);

/// A table that compares several invocations. Differences in their settings are notes.
Table across_table(const AcrossRuns& across);

}  // namespace pardec
