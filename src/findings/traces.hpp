#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// Calls `use` for each trace in a file written by `--trace`, which has one JSON object per line.
/// ConfigError, which names file and line: the file is invalid.
void each_trace(const std::filesystem::path& file, const std::function<void(Trace)>& use);

/// Returns all traces of the file.
std::vector<Trace> read_traces(const std::filesystem::path& file);

}  // namespace pardec
