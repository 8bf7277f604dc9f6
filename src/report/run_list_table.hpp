#pragma once
#include "src/findings/run_list.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// A table of the invocations in a database, one row each.
Table run_list_table(const RunList& list);

/// A table that compares several invocations, with one row per arm, dataset and invocation. Arms
/// that were measured in several sittings have a further row that combines these. The notes say in
/// which settings each invocation differs from the first one.
Table across_table(const AcrossRuns& across);

}  // namespace pardec
