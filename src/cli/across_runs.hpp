#pragma once
#include <string>
#include <vector>

#include "src/support/table_choice.hpp"

namespace pardec {

/// Prints a comparison of invocations of a database, with the speedups of each arm and their
/// interval over all of them. `ids`: names or prefixes of ids. ConfigError: one of them is unknown
/// or appears twice.
int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format);

}  // namespace pardec
