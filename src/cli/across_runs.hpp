#pragma once
#include <string>
#include <vector>

#include "src/support/table_choice.hpp"

namespace pardec {

/// Prints a comparison of several invocations: the speedup of each arm in each invocation, and one
/// interval over all invocations. `ids`: names of invocations or prefixes of their ids. Returns
/// exit code 0. ConfigError: `ids` has fewer than two entries, an entry is unknown, two entries
/// mean the same invocation, or `confidence` is not between 0 and 1 (exclusive).
int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format);

}  // namespace pardec
