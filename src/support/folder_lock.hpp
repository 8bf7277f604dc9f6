#pragma once
#include <filesystem>

namespace pardec {

/// Locks a folder while this object exists, so that no other FolderLock, in this or another
/// process, can lock the folder. The lock works for all paths to the folder, and leaves no file in
/// the folder. On a file system without locks, nothing is locked, and there is no error. RunError:
/// the folder cannot be opened; or the folder is already locked. In the second case, the message
/// starts with `what`, e.g. "another process trains into", followed by the folder.
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
