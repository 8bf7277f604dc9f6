#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

/// Checks that `file` is a regular file or does not exist. Links are followed. DataError: `file` is
/// a folder, a FIFO, a device or a socket. (Reading a FIFO or a device might never end.)
void check_regular(const std::filesystem::path& file);

/// Maximum size, in bytes, of a file that is read as a whole: 1 GiB.
inline constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 30;

/// Reads a whole file. DataError, which names file and reason: the file is missing, cannot be read,
/// is not a regular file, or has more than kLargestRead bytes.
std::string read_file(const std::filesystem::path& file);

/// Writes the next `count` bytes of a file. RunError: see write_file.
using FileSink = std::function<void(const void* bytes, std::size_t count)>;

/// Writes a file so that the file is either complete or unchanged. `fill` is called once, with a
/// sink that writes to `file.tmp`; then `file.tmp` is synced and renamed. The permissions of an
/// existing file are kept. If `file` is a link, the target of the link is replaced. If `fill`
/// throws, the temporary file is removed, and the exception passes to the caller. RunError: the
/// file cannot be written, e.g. because its folder does not exist or the disk is full; or `file` is
/// a folder, device, pipe or socket, or a link that leads to itself.
void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill);

/// Writes `file` directly, without a temporary file and without a sync. For callers that write many
/// files and sync them together. An existing file is overwritten at once. If `fill` throws, an
/// incomplete file remains, and the exception passes to the caller. RunError: see write_file.
void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill);

/// Calls write_file with a function that writes `content`.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
