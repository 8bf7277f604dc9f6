#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace pardec {

/// The whole file. A file that is missing or cannot be read is a DataError that says which and why.
std::string read_file(const std::filesystem::path& file);

/// Writes to `file.tmp`, syncs and renames: the file is there whole, or as it was. RunError when
/// that fails.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
