#pragma once
#include <filesystem>

namespace pardec {

/// Locks a folder against other processes while this object exists. The lock works for all paths to
/// the folder, and leaves no file in it. On a file system without locks, nothing is locked, and
/// there is no error. RunError: the folder cannot be opened; or another process holds the lock. In
/// the second case, the message starts with `what`, e.g. "another process trains into".
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
