#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// Each of what `--trace` wrote, one object a line. ConfigError, which names file and line.
void each_trace(const std::filesystem::path& file, const std::function<void(Trace)>& use);

/// All of them.
std::vector<Trace> read_traces(const std::filesystem::path& file);

}  // namespace pardec
