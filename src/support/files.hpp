#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

/// DataError: `file` exists and is not a regular file, e.g. a folder, or a FIFO or device, which
/// could be endless. Links are followed.
void check_regular(const std::filesystem::path& file);

/// Maximum size of a file that is read as a whole.
inline constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 30;

/// Reads a whole file. DataError, which names file and reason: the file is missing, cannot be read,
/// is not a regular file, or has more than kLargestRead bytes.
std::string read_file(const std::filesystem::path& file);

/// Writes the next bytes of a file.
using FileSink = std::function<void(const void* bytes, std::size_t count)>;

/// Writes a file so that it is either complete or unchanged: `fill` gets a sink that writes to
/// `file.tmp`, which is then synced and renamed. If `file` is a link, its target is replaced. If
/// `fill` throws, the temporary file is removed. RunError: writing fails, or `file` is a folder,
/// device or pipe.
void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill);

/// Writes `file` directly and without a sync. For callers that write many files and sync them
/// together. RunError: writing fails.
void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill);

/// The same with the whole content.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
