#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "src/support/error.hpp"

namespace pardec {

/// The archive is invalid or damaged, or has forbidden content. It may help to download the archive
/// again.
struct BadArchive : RunError {
  using RunError::RunError;
};

/// Called repeatedly while an archive is unpacked. `done`: the number of bytes of the archive that
/// were read so far. Must not be empty.
using UnpackProgress = std::function<void(std::int64_t done)>;

/// Unpacks the regular files of a tar archive (compressed with gzip or similar) into the existing
/// `folder`, and returns their number. The first `strip` folders of each name are removed; a file
/// with no more than `strip` parts in its name is left out. Everything is first unpacked to
/// `folder/.unpacking`. Then each top-level file or folder is moved to `folder`, where it replaces
/// an existing one. BadArchive: the archive
/// - cannot be opened, or is invalid or damaged;
/// - contains a link, a device, or a name that leads outside of `folder`;
/// - contains no file to unpack;
/// - would unpack to more than 64 MiB plus 100 times the size of the archive.
/// RunError: `folder` cannot be written, e.g. because the disk is full. After an error while
/// unpacking, no unpacked files remain. After an error while moving, the entries that were already
/// moved remain.
std::int64_t unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& folder,
                        int strip, const UnpackProgress& progress);

/// Unpacks the compressed file `packed` (gzip or similar) to `file`. An existing `file` is replaced
/// only after unpacking succeeded. BadArchive: `packed` cannot be opened, is damaged or is not
/// compressed; its content is empty; or the content would exceed the limit of unpack_tar. RunError:
/// `file` cannot be written.
void unpack_file(const std::filesystem::path& packed, const std::filesystem::path& file,
                 const UnpackProgress& progress);

}  // namespace pardec
