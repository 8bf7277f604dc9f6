#pragma once
#include <filesystem>

namespace pardec {

/// While it lives no other process has one on the same folder, by whichever path. Nothing is left
/// in it. RunError, which begins with `what` ("another process trains into"), where one does.
class FolderLock {
 public:
  FolderLock(const std::filesystem::path& folder, const char* what);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

}  // namespace pardec
