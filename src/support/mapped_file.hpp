#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace pardec {

/// A whole file in memory, mapped on demand. The mapping is private: changes in memory never reach
/// the file.
class MappedFile {
 public:
  /// ModelError: the file cannot be opened or mapped, or is not a regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  /// The content; empty if the file is empty.
  std::span<std::byte> bytes() const { return bytes_; }
  /// Frees the memory of the whole pages in `part`, a part of bytes(). Changes to these pages are
  /// lost: later reads get the content of the file.
  void release(std::span<std::byte> part) const;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace pardec
