#pragma once
#include <filesystem>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// What `--trace` wrote, one object a line. ConfigError, which names file and line.
std::vector<Trace> read_traces(const std::filesystem::path& file);

}  // namespace pardec
