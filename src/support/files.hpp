#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

/// DataError: `file` exists but is not a regular file. Folders are refused, and so are FIFOs and
/// devices, which could be endless. Links are followed.
void check_regular(const std::filesystem::path& file);

/// Maximum size of a file that is read as a whole.
inline constexpr std::uintmax_t kLargestRead = std::uintmax_t{1} << 30;

/// The whole file. DataError, which names the file and the reason: it is missing, cannot be read,
/// is not a regular file, or has more than kLargestRead bytes.
std::string read_file(const std::filesystem::path& file);

/// Receives the next bytes of a file.
using FileSink = std::function<void(const void* bytes, std::size_t count)>;

/// Calls `fill` with a sink that writes to `file.tmp`, then syncs and renames, so that the file is
/// either complete or unchanged. A link is kept, and its target is written. RunError: writing
/// fails, or `file` is not a plain file (folder, device, pipe), which the rename would replace. If
/// `fill` throws, the temporary file is removed.
void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill);

/// Writes `file` directly and without a sync, for one of many files that the caller syncs together.
/// RunError.
void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill);

/// write_file for complete content.
void write_file(const std::filesystem::path& file, std::string_view content);

}  // namespace pardec
