#include "src/support/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

FolderLock::FolderLock(const std::filesystem::path& folder, const char* what)
    : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ < 0) throw RunError(str(folder.string(), ": cannot be opened: ", std::strerror(errno)));
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return;  // or locks are not supported here
  ::close(fd_);
  throw RunError(str(what, " ", folder.string(), "; wait for its end, or give another folder"));
}

FolderLock::~FolderLock() { ::close(fd_); }

}  // namespace pardec
