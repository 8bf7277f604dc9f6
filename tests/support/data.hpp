#pragma once
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>

namespace pardec::test {

/// The folder `part` of the real data, which is in $PARDEC_TEST_DATA, or else in ../shared/data
/// next to the project. None: the folder does not exist; a line `[skipped] ...` was printed, and
/// the test should return.
inline std::optional<std::filesystem::path> data(const std::string& part) {
  const char* set = std::getenv("PARDEC_TEST_DATA");
  const std::filesystem::path root =
      set ? std::filesystem::path(set)
          : std::filesystem::path(PARDEC_SOURCE_DIR) / "../shared/data";
  if (std::filesystem::exists(root / part)) return root / part;
  std::cout << "[skipped] " << (root / part).string() << " is missing\n";
  return std::nullopt;
}

/// A new empty folder. The destructor removes it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "pardec-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace pardec::test
