#include "src/support/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

void check_regular(const std::filesystem::path& file) {
  std::error_code ignored;
  const char* found = nullptr;
  switch (std::filesystem::status(file, ignored).type()) {
    case std::filesystem::file_type::directory:
      throw DataError(file.string(), 0, "is a folder, expected a file");
    case std::filesystem::file_type::fifo:
      found = "FIFO";
      break;
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      found = "device";
      break;
    case std::filesystem::file_type::socket:
      found = "socket";
      break;
    default:
      return;
  }
  throw DataError(file.string(), 0, str("is a ", found, ", expected a regular file"));
}

std::string read_file(const std::filesystem::path& file) {
  check_regular(file);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw DataError(file.string(), 0, str("cannot be opened: ", std::strerror(errno)));
  std::string content;
  char buffer[1 << 16];
  ssize_t got;
  while (content.size() <= kLargestRead && (got = ::read(fd, buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<size_t>(got));
  const int error = errno;
  ::close(fd);
  if (got < 0) throw DataError(file.string(), 0, str("cannot be read: ", std::strerror(error)));
  if (content.size() > kLargestRead)
    throw DataError(file.string(), 0,
                    str("has more than ", kLargestRead >> 20, " MiB, expected at most these"));
  return content;
}

namespace {

void need(bool good, const std::filesystem::path& file) {
  if (!good) throw RunError(str(file.string(), ": cannot be written: ", std::strerror(errno)));
}

/// The end of a chain of links from `file`: a plain file, or a path that does not exist yet.
std::filesystem::path end_of_links(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;
  std::error_code ignored;
  fs::path place = file;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
    const fs::file_status status = fs::symlink_status(place, ignored);
    if (fs::is_directory(status))
      throw RunError(str(file.string(), ": is a folder, expected a file"));
    // Links in /proc, where /dev/stdout leads to, are names of open files.
    if ((fs::exists(status) && !fs::is_regular_file(status) && !fs::is_symlink(status)) ||
        fs::canonical(folder, ignored).native().starts_with("/proc/"))
      throw RunError(str(file.string(),
                         ": is a device, pipe or socket, expected a plain file, which is written "
                         "whole; write to one, and copy it there"));
    if (!fs::is_symlink(status)) return place;
    place = folder / fs::read_symlink(place, ignored);
  }
  throw RunError(str(file.string(), ": is a link that leads to itself, expected a file"));
}

/// Opens `place` for writing. `file` is its name in errors.
int open_to_write(const std::filesystem::path& place, const std::filesystem::path& file,
                  int flags) {
  const int fd = ::open(place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  need(fd >= 0, file);
  return fd;
}

/// Fills the opened file, and closes it in any case.
void fill_and_close(int fd, const std::filesystem::path& file, bool sync,
                    const std::function<void(const FileSink&)>& fill) {
  try {
    fill([&](const void* bytes, std::size_t count) {
      const char* from = static_cast<const char*>(bytes);
      while (count > 0) {
        const ssize_t written = ::write(fd, from, count);
        need(written >= 0 || errno == EINTR, file);
        if (written > 0) from += written, count -= static_cast<std::size_t>(written);
      }
    });
    if (sync) need(::fsync(fd) == 0, file);
    need(::close(std::exchange(fd, -1)) == 0, file);
  } catch (...) {
    if (fd >= 0) ::close(fd);
    throw;
  }
}

}  // namespace

void write_file(const std::filesystem::path& file,
                const std::function<void(const FileSink&)>& fill) {
  const std::filesystem::path place = end_of_links(file);
  const std::string temporary = place.string() + ".tmp";
  ::unlink(temporary.c_str());  // may remain from a process that was killed
  const int fd = open_to_write(temporary, file, O_EXCL);
  struct stat old {};
  if (::stat(place.c_str(), &old) == 0) ::fchmod(fd, old.st_mode & 07777);
  try {
    fill_and_close(fd, file, /*sync=*/true, fill);
    need(::rename(temporary.c_str(), place.c_str()) == 0, file);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_unsynced(const std::filesystem::path& file,
                    const std::function<void(const FileSink&)>& fill) {
  fill_and_close(open_to_write(end_of_links(file), file, O_TRUNC), file, /*sync=*/false, fill);
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  write_file(file, [&](const FileSink& put) { put(content.data(), content.size()); });
}

}  // namespace pardec
