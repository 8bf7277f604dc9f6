#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace pardec {

/// A whole file in memory, mapped on demand. The mapping is private: changes in memory never reach
/// the file.
class MappedFile {
 public:
  /// ModelError: it cannot be opened, or is not a regular file.
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }
  /// Gives back the memory of `part`. Reading it again yields the file's content.
  void release(std::span<std::byte> part) const;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace pardec
