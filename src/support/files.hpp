#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

/// DataError where `file` is there and no regular file: a folder, or a FIFO or device, which could
/// be without end. Links are followed.
void check_regular(const std::filesystem::path& file);

/// What is read whole may have so many bytes.
inline constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 30;

/// The whole file. DataError, which says which and why: it is missing, cannot be read, is no
/// regular file, or has more than kLargestRead bytes.
std::string read_file(const std::filesystem::path& file);

/// Takes the next bytes of a file.
using FileSink = std::function<void(const void* bytes, std::size_t count)>;

/// Calls `fill` with a sink that writes to `file.tmp`, then syncs and renames: the file is there
/// whole, or as it was. A link stays, and what it leads to is written. RunError when that fails,
/// and for what is no plain file (folder, device, pipe), which a rename would take away; what
/// `fill` throws removes the temporary file.
void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill);

/// Writes `file` in its place and without a sync, for one of many files that the caller syncs
/// together. RunError.
void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill);

/// write_file for content that is there as a whole.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
