#include "src/support/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

MappedFile::MappedFile(const std::filesystem::path& file) {
  // O_NONBLOCK: a FIFO must not block; it is refused below
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw ModelError(file.string(), str("cannot be opened: ", std::strerror(errno)));
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw ModelError(file.string(), "is not a regular file");
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = nullptr;
  // Writable so that mapped weights can be trained; private so that the file does not change.
  if (size > 0)
    address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (address == MAP_FAILED)
    throw ModelError(file.string(), str("cannot be mapped: ", std::strerror(error)));
  bytes_ = {static_cast<std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void MappedFile::release(std::span<std::byte> part) const {
  // Only whole pages: the first and the last page may be shared with other tensors.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace pardec
