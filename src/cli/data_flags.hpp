#pragma once
#include <string>
#include <vector>

#include "src/cli/run_flags.hpp"
#include "src/runs/workload.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// What is run: datasets, files of the user's own, and which of their examples.
void add_data_flags(CLI::App& app, RunFlags& flags);

/// Of columns of the user's own records that nothing is read from, a line a dataset.
std::vector<std::string> unread_notes(const std::vector<Workload>& workloads);

}  // namespace pardec
