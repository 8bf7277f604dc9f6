#pragma once
#include <string>
#include <vector>

#include "src/support/table_choice.hpp"

namespace pardec {

/// Prints a comparison of several invocations to stdout (compare_across): for each arm, the speedup
/// in each invocation, and one interval over the invocations with the same settings and machines.
/// `db`: path of the database. `ids`: two or more entries; each entry names an invocation, e.g. by
/// its name (find_invocation). `confidence`: confidence level of all intervals. Returns exit code
/// 0. ConfigError: `ids` has fewer than two entries, an entry names no invocation or several, two
/// entries name the same invocation, or `confidence` is not between 0 and 1 (exclusive).
/// StoreError: the database cannot be read.
int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format);

}  // namespace pardec
