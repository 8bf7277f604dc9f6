#pragma once
#include <filesystem>

namespace pardec {

/// Locks a folder against other processes while it lives, by whichever path they access it. Leaves
/// no file in the folder. RunError, which starts with `what` ("another process trains into"):
/// another process has the lock.
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
