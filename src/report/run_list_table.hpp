#pragma once
#include "src/findings/run_list.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// What a store holds, one row an invocation.
Table run_list_table(const RunList& list);

/// Invocations row by row, with what differs in their settings as notes.
Table across_table(const AcrossRuns& across);

}  // namespace pardec
