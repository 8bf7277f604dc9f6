#include "src/support/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string read_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw DataError(file.string(), 0, "is a folder, expected a file");
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw DataError(file.string(), 0, str("cannot be opened: ", std::strerror(errno)));
  std::string content;
  char buffer[1 << 16];
  ssize_t got;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<size_t>(got));
  const int error = errno;
  ::close(fd);
  if (got < 0) throw DataError(file.string(), 0, str("cannot be read: ", std::strerror(error)));
  return content;
}

void write_file(const std::filesystem::path& file, std::string_view content) {
  const std::string temporary = file.string() + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0;
  for (size_t done = 0; good && done < content.size();) {
    const ssize_t put = ::write(fd, content.data() + done, content.size() - done);
    good = put >= 0;
    if (good) done += static_cast<size_t>(put);
  }
  good = good && ::fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (good && ::rename(temporary.c_str(), file.c_str()) == 0) return;
  const int why = good ? errno : error;
  ::unlink(temporary.c_str());
  throw RunError(str(file.string(), ": cannot be written: ", std::strerror(why)));
}

}  // namespace pardec
