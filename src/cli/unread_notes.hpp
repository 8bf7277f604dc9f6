#pragma once
#include <string>
#include <vector>

#include "src/runs/workload.hpp"

namespace pardec {

/// Notes about unused columns in a user's own records, one line per dataset.
std::vector<std::string> unread_notes(const std::vector<Workload>& workloads);

}  // namespace pardec
