#pragma once
#include <string>
#include <vector>

#include "src/runs/workload.hpp"

namespace pardec {

/// Of columns of the user's own records that nothing is read from, a line a dataset.
std::vector<std::string> unread_notes(const std::vector<Workload>& workloads);

}  // namespace pardec
