#pragma once
#include <string>
#include <vector>

#include "src/runs/workload.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// What is run: datasets, files of the user's own, and which of their examples.
void add_data_flags(CLI::App& app, RunSpec& spec);

/// Of columns of the user's own records that nothing is read from, a line a dataset.
std::vector<std::string> unread_notes(const std::vector<Workload>& workloads);

}  // namespace pardec
