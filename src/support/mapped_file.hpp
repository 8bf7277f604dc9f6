#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace pardec {

/// A whole file in memory. A page is read from the file when it is first used. The mapping is
/// private: changes in memory never reach the file.
class MappedFile {
 public:
  /// ModelError: the file cannot be opened or mapped, or is not a regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  /// The content; empty if the file is empty.
  std::span<std::byte> bytes() const { return bytes_; }
  /// Frees the memory of the pages that lie completely in `part`, a part of bytes(). The span stays
  /// valid: a later access reads such a page from the file again. Changes to these pages in memory
  /// are lost.
  void release(std::span<std::byte> part) const;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace pardec
