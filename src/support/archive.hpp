#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "src/support/error.hpp"

namespace pardec {

/// An archive that is invalid, damaged, or has forbidden content. Downloading it again may help.
struct BadArchive : RunError {
  using RunError::RunError;
};

/// Called with the number of archive bytes read so far.
using UnpackProgress = std::function<void(std::int64_t done)>;

/// Unpacks the regular files of a tar archive (compressed with gzip or similar) into the existing
/// `folder`. The first `strip` folders of the names are removed; files whose whole name is removed
/// are left out. Everything is unpacked into `folder/.unpacking` first; then each top-level file or
/// folder moves into place and replaces an existing one. Returns the number of files. BadArchive:
/// the archive is invalid or damaged, contains a link, or a name that leads outside the folder, or
/// would unpack to more than 64 MiB plus a hundred times its own size. RunError: the disk is full.
/// After an error while unpacking, no unpacked files remain. If moving fails, entries already moved
/// stay.
std::int64_t unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& folder,
                        int strip, const UnpackProgress& progress);

/// Unpacks one compressed file (gzip or similar); `file` appears only when complete. Errors as
/// above; an empty file counts as damaged.
void unpack_file(const std::filesystem::path& packed, const std::filesystem::path& file,
                 const UnpackProgress& progress);

}  // namespace pardec
