#pragma once
#include <string>
#include <vector>

#include "src/support/table_choice.hpp"

namespace pardec {

/// Prints a comparison of several invocations: the speedup of each arm in each invocation, and one
/// interval over all invocations. `ids`: names of invocations or prefixes of their ids.
/// ConfigError: an entry of `ids` is unknown or appears twice.
int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format);

}  // namespace pardec
