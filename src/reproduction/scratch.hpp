#pragma once
#include <filesystem>
#include <string>

namespace pardec {

/// A new empty folder, which is removed with the object. RunError: it cannot be made.
class Scratch {
 public:
  /// `name`: the beginning of the folder's name.
  explicit Scratch(const std::string& name);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace pardec
