#pragma once
#include <string>
#include <vector>

#include "src/support/table_choice.hpp"

namespace pardec {

/// Prints invocations of a database row by row, each arm's speedups with the interval over
/// sittings. `ids`: names, or first characters of ids. ConfigError: one of them is unknown or
/// stands twice.
int print_across(const std::string& db, const std::vector<std::string>& ids, double confidence,
                 TableFormat format);

}  // namespace pardec
