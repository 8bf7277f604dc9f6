#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace pardec {

/// Searches `file` for the first line "KEY: VALUE" whose KEY begins with `key`, and returns the
/// VALUE without white space at the ends, e.g. for the key "MemTotal" in /proc/meminfo. If `key` is
/// empty, returns the whole first line of the file. Empty: there is no such line or no such file.
std::string line_of(const std::string& file, const std::string& key);

/// The name of the processor's model; empty: unknown.
std::string processor_name();

/// The names of the GPUs' models, as NVIDIA's driver reports them, in the order of bus addresses;
/// empty: there is no driver. `driver`: the folder in which the driver reports the GPUs.
std::vector<std::string> gpu_names(
    const std::filesystem::path& driver = "/proc/driver/nvidia/gpus");

/// The version of NVIDIA's driver, e.g. "550.54.15"; empty: there is no driver. `file`: the file in
/// which the driver reports its version.
std::string gpu_driver(const std::filesystem::path& file = "/proc/driver/nvidia/version");

}  // namespace pardec
