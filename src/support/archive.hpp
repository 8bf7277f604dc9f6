#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>

#include "src/support/error.hpp"

namespace pardec {

/// An archive that is none, is damaged, or holds what it may not; to be fetched anew.
struct BadArchive : RunError {
  using RunError::RunError;
};

/// Bytes of the archive that were read.
using UnpackProgress = std::function<void(std::int64_t done)>;

/// Unpacks the regular files of a tar archive (packed by gzip or the like) into `folder`, which
/// exists, without the first `strip` folders of their names; what has no more than these is left
/// out. All is unpacked into `folder/.unpacking` first; then each top-level file or folder takes
/// its place, in that of what was there. Returns how many files. BadArchive: no archive or a
/// damaged one, a name that leads out of it, links, or more than 64 MiB and a hundred times its own
/// size to unpack. RunError: disk full. Nothing of it stays then.
std::int64_t unpack_tar(const std::filesystem::path& archive, const std::filesystem::path& folder,
                        int strip, const UnpackProgress& progress);

/// Unpacks one compressed file (gzip or the like); `file` appears whole. Errors as above; an
/// empty one is damaged.
void unpack_file(const std::filesystem::path& packed, const std::filesystem::path& file,
                 const UnpackProgress& progress);

}  // namespace pardec
