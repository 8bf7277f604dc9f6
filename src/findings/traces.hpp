#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// Calls `use` for each trace in a file written by `--trace`, one JSON object per line.
/// ConfigError, with file and line.
void each_trace(const std::filesystem::path& file, const std::function<void(Trace)>& use);

/// All traces of the file.
std::vector<Trace> read_traces(const std::filesystem::path& file);

}  // namespace pardec
