#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace pardec {

/// The value in the file's first line "KEY: VALUE" in which KEY begins with `key`, e.g. "MemTotal"
/// of /proc/meminfo. With an empty `key`, the whole first line. Empty: there is no such line.
std::string line_of(const std::string& file, const std::string& key);

/// The processor's model as the system reports it; empty: unknown.
std::string processor_name();

/// The models of the GPUs, as NVIDIA's driver reports them, in the order of their bus addresses.
/// `driver`: the driver's folder.
std::vector<std::string> gpu_names(
    const std::filesystem::path& driver = "/proc/driver/nvidia/gpus");

/// The version of NVIDIA's driver, e.g. "550.54.15"; empty: there is none. `file`: where the driver
/// reports it.
std::string gpu_driver(const std::filesystem::path& file = "/proc/driver/nvidia/version");

}  // namespace pardec
