#pragma once
#include "src/findings/run_list.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// The calls of `pardec run` that a database contains (invocations), one row each.
Table run_list_table(const RunList& list);

/// A comparison of invocations, with differences in their settings as notes.
Table across_table(const AcrossRuns& across);

}  // namespace pardec
