#pragma once
#include <string>
#include <vector>

#include "src/runs/workload.hpp"

namespace pardec {

/// Notes about columns of the user's own data files that are not read (Dataset::unread): one note
/// for each dataset with such columns.
std::vector<std::string> unread_notes(const std::vector<Workload>& workloads);

}  // namespace pardec
