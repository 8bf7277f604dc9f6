#pragma once
#include <filesystem>
#include <string>

namespace pardec {

/// A new empty folder in the folder for temporary files (TMPDIR). The destructor removes it with
/// its content.
class Scratch {
 public:
  /// `name`: the beginning of the folder's name. RunError: the folder cannot be created.
  explicit Scratch(const std::string& name);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace pardec
