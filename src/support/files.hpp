#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

/// The whole file. A file that is missing or cannot be read is a DataError that says which and why.
std::string read_file(const std::filesystem::path& file);

/// Takes the next bytes of a file.
using FileSink = std::function<void(const void* bytes, std::size_t count)>;

/// Calls `fill` with a sink that writes to `file.tmp`, then syncs and renames: the file is there
/// whole, or as it was. RunError when that fails; what `fill` throws removes the temporary file.
void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill);

/// Writes `file` in its place and without a sync, for one of many files that the caller syncs
/// together. RunError.
void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill);

/// write_file for content that is there as a whole.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
