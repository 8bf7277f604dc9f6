#pragma once
#include <filesystem>

namespace pardec {

/// Locks a folder against other processes while this object exists. The lock works for all paths to
/// the folder, and leaves no file in it. RunError, which starts with `what` ("another process
/// trains into"): another process holds the lock.
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
