#pragma once
#include <filesystem>
#include <functional>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// Calls `use` for each trace in a file written by `--trace`, in the order of the file. The file
/// has one JSON object in each line; blank lines are skipped. DataError: the file cannot be read,
/// or a line is not JSON. ConfigError, which names file and line: a line is not a valid trace.
/// Errors of `use` pass through.
void each_trace(const std::filesystem::path& file, const std::function<void(Trace)>& use);

/// Returns all traces of the file. Errors: see each_trace.
std::vector<Trace> read_traces(const std::filesystem::path& file);

}  // namespace pardec
