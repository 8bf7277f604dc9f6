#pragma once
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "src/engine/trace.hpp"

namespace pardec {

/// What `--trace` wrote, one object a line. ConfigError, which names file and line.
std::vector<Trace> read_traces(const std::filesystem::path& file);

/// The file of --trace, to be written. ConfigError where it cannot be.
std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode);

}  // namespace pardec
