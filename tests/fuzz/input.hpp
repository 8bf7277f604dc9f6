#pragma once
// Shared by the fuzz targets: converts the fuzzer's input to text, and to files for the readers
// that are tested.
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace pardec::test {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A folder for this process in $TMPDIR. The script `run` sets TMPDIR to a folder in memory, and
/// removes it.
inline const std::filesystem::path& scratch() {
  static const std::filesystem::path kFolder =
      std::filesystem::temp_directory_path() / std::to_string(::getpid());
  return kFolder;
}

/// Writes a file in the folder scratch(), and returns its path.
inline std::filesystem::path put(const std::string& name, std::string_view content) {
  const std::filesystem::path file = scratch() / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
  return file;
}

}  // namespace pardec::test
