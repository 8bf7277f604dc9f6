#include "src/support/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 1u << 18;

/// Reads an archive with libarchive.
class Reader {
 public:
  explicit Reader(const fs::path& file, bool tar) : file_(file), reader_(archive_read_new()) {
    std::error_code unknown;
    const auto packed = fs::file_size(file, unknown);
    most_ = (std::int64_t{64} << 20) + (unknown ? 0 : 100 * static_cast<std::int64_t>(packed));
    left_ = most_;
    archive_read_support_filter_all(reader_);
    if (tar)
      archive_read_support_format_tar(reader_);
    else
      archive_read_support_format_raw(reader_);
    if (archive_read_open_filename(reader_, file.c_str(), kBlock) != ARCHIVE_OK) {
      const std::string what = message();
      archive_read_free(reader_);
      throw BadArchive(what);
    }
  }
  ~Reader() { archive_read_free(reader_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// The next entry; null at the end.
  archive_entry* next() {
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(reader_, &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    check(code == ARCHIVE_OK || code == ARCHIVE_WARN);
    take(512);  // for the header; the size of a sparse entry counts at once
    if (archive_entry_size(entry) > left_) take(archive_entry_size(entry));
    return entry;
  }
  /// Reads the content of the entry in pieces.
  void read(const FileSink& put) {
    std::vector<char> buffer(kBlock);
    for (;;) {
      const la_ssize_t count = archive_read_data(reader_, buffer.data(), buffer.size());
      check(count >= 0);
      if (count == 0) return;
      take(count);
      put(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  std::int64_t bytes_read() { return archive_filter_bytes(reader_, -1); }
  int filters() { return archive_filter_count(reader_); }
  [[noreturn]] void fail(const std::string& what) const {
    throw BadArchive(str(file_.string(), ": ", what));
  }

 private:
  std::string message() const {
    const char* said = archive_error_string(reader_);
    return str(file_.string(), ": cannot be unpacked: ", said ? said : "damaged archive");
  }
  void check(bool good) const {
    if (!good) throw BadArchive(message());
  }
  void take(std::int64_t bytes) {
    if (bytes > left_)
      fail(str("unpacks to more than ", most_ >> 20,
               " MiB, expected at most a hundred times its size"));
    left_ -= bytes;
  }

  fs::path file_;
  archive* reader_;
  std::int64_t most_ = 0, left_ = 0;  // limits of the unpacked bytes
};

/// The name without the first `strip` folders; empty if nothing is left.
fs::path inner_name(const Reader& reader, const std::string& name, int strip) {
  const fs::path path(name);
  fs::path inner;
  int skipped = 0;
  if (path.is_absolute()) reader.fail(str("holds '", name, "', which leads out of the archive"));
  for (const auto& part : path) {
    if (part == "..") reader.fail(str("holds '", name, "', which leads out of the archive"));
    if (part == "." || part.empty()) continue;
    if (skipped < strip)
      ++skipped;
    else
      inner /= part;
  }
  return inner;
}

void sync_all(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = fd >= 0 && ::syncfs(fd) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!good) throw RunError(str(folder.string(), ": cannot be written: ", std::strerror(error)));
}

}  // namespace

std::int64_t unpack_tar(const fs::path& archive, const fs::path& folder, int strip,
                        const UnpackProgress& progress) {
  const fs::path stage = folder / ".unpacking";
  std::error_code ignored;
  fs::remove_all(stage, ignored);
  std::int64_t files = 0;
  try {
    Reader reader(archive, true);
    std::set<fs::path> made;  // folders that were created
    while (archive_entry* entry = reader.next()) {
      const char* given = archive_entry_pathname(entry);
      const std::string name = given ? given : "";
      const fs::path inner = inner_name(reader, name, strip);
      if (inner.empty() || archive_entry_filetype(entry) == AE_IFDIR) continue;
      if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry))
        reader.fail(str("holds '", name, "', which is a link or no file; expected only files"));
      const fs::path file = stage / inner;
      if (made.insert(file.parent_path()).second) fs::create_directories(file.parent_path());
      // There can be 200,000 files; they are synced together.
      write_unsynced(file, [&](const FileSink& put) { reader.read(put); });
      ++files;
      progress(reader.bytes_read());
    }
    if (files == 0) reader.fail("holds no file, expected some");
    sync_all(stage);
    for (const auto& entry : fs::directory_iterator(stage)) {
      const fs::path place = folder / entry.path().filename();
      fs::remove_all(place);
      fs::rename(entry.path(), place);
    }
    fs::remove_all(stage);
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(stage, ignored);
    throw RunError(str(folder.string(), ": cannot be written: ", error.code().message()));
  } catch (...) {
    fs::remove_all(stage, ignored);
    throw;
  }
  return files;
}

void unpack_file(const fs::path& packed, const fs::path& file, const UnpackProgress& progress) {
  Reader reader(packed, false);
  if (!reader.next() || reader.filters() < 2)
    reader.fail("is not compressed as expected (gzip or the like)");
  write_file(file, [&](const FileSink& put) {
    bool any = false;
    reader.read([&](const void* bytes, std::size_t count) {
      any = true;
      put(bytes, count);
      progress(reader.bytes_read());
    });
    if (!any) reader.fail("is empty when it is unpacked, expected a file with something in it");
  });
}

}  // namespace pardec
