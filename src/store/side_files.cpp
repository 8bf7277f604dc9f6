#include "src/store/side_files.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kEndings{"-wal", "-shm"};
constexpr const char* kAttribute = "user.pardec.database";

// The bytes that each connection locks while it has the database open: one byte of -shm, and a
// range of the database.
constexpr std::uint64_t kAlive = 128;
constexpr std::uint64_t kShared = 0x40000002, kSharedEnd = kShared + 509;

fs::path beside(const fs::path& database, const char* ending) { return database.string() + ending; }

/// The database that a file belongs to, and whether it is the file that was marked: copying a file
/// may copy the mark.
struct Mark {
  std::string id;  ///< empty: the file has no mark
  bool copied = false;
};

Mark mark_of(const fs::path& file) {
  std::array<char, 128> text{};
  const ssize_t size = ::getxattr(file.c_str(), kAttribute, text.data(), text.size());
  if (size <= 0) return {};
  const auto parts = split(std::string(text.data(), static_cast<std::size_t>(size)), ' ');
  if (parts.size() != 2) return {};
  return {parts[0], parts[1] != std::to_string(place_of(file).second)};
}

void set_mark(const fs::path& file, const std::string& id) {
  const std::string text = str(id, " ", place_of(file).second);
  ::setxattr(file.c_str(), kAttribute, text.data(), text.size(), 0);
}

/// A process other than `besides` that holds a lock on the file between two bytes; 0: none is
/// visible. Read from the system's list of locks: opening and closing the file would release this
/// process's own locks on it.
long locked_by(const fs::path& file, std::uint64_t first, std::uint64_t last, long besides = 0) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return 0;
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "%02x:%02x:%llu", major(info.st_dev), minor(info.st_dev),
                static_cast<unsigned long long>(info.st_ino));
  std::ifstream locks("/proc/locks");
  std::string line;
  while (std::getline(locks, line)) {
    // 1: POSIX  ADVISORY  READ 4711 fd:00:1234 128 128
    long owner = 0;
    unsigned long long from = 0, to = ~0ull;
    std::array<char, 64> place{};
    if (line.find("->") == std::string::npos &&
        std::sscanf(line.c_str(), "%*s POSIX %*s %*s %ld %63s %llu %llu", &owner, place.data(),
                    &from, &to) >= 3 &&
        std::string_view(place.data()) == name.data() && from <= last && first <= to &&
        (besides == 0 || owner != besides))
      return owner;
  }
  return 0;
}

/// A process that has the shared memory open while no process has a database of this name open: its
/// database has lost the name. 0: none.
long owner_without_database(const fs::path& database) {
  using namespace std::chrono_literals;
  for (int attempt = 0;; ++attempt) {
    const long owner = locked_by(beside(database, "-shm"), kAlive, kAlive);
    if (owner == 0 || locked_by(database, kShared, kSharedEnd) != 0) return 0;
    // A process that closes the database releases one lock after the other.
    if (attempt == 10) return owner;
    std::this_thread::sleep_for(20ms);
  }
}

/// A process that has the database open under another name (a hard link), so that its log has that
/// name. 0: none.
long owner_by_other_name(const fs::path& database) {
  struct stat info {};
  if (::stat(database.c_str(), &info) != 0 || info.st_nlink < 2) return 0;
  using namespace std::chrono_literals;
  for (int attempt = 0;; ++attempt) {
    const long owner = locked_by(database, kShared, kSharedEnd);
    if (owner == 0 || locked_by(beside(database, "-shm"), kAlive, kAlive) != 0) return 0;
    if (attempt == 10) return owner;
    std::this_thread::sleep_for(20ms);
  }
}

}  // namespace

void SideFiles::check(const fs::path& path) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  const fs::path database = error ? path : resolved;
  const std::string names =
      str(beside(database, "-wal").string(), " and ", beside(database, "-shm").string());
  if (const long owner = owner_without_database(database))
    throw StoreError(path.string(),
                     str("process ", owner, " goes on with another database that had this name, ",
                         "and to which ", names,
                         " belong; wait until that process ends, or choose another database"),
                     2);
  if (const long owner = owner_by_other_name(database))
    throw StoreError(path.string(),
                     str("is open in process ", owner, " under another name, a hard link to it, ",
                         "beside which its log lies; give that name, or wait until the process "
                         "ends"),
                     2);
  const auto size = fs::file_size(database, error);
  if (error || size == 0) return;  // SQLite removes side files when it creates a database
  const auto log = fs::file_size(beside(database, "-wal"), error);
  if (error || log == 0) return;
  const Mark ours = mark_of(database), theirs = mark_of(beside(database, "-wal"));
  // If the database was copied, its log was copied with it.
  if (theirs.id.empty() || (theirs.id == ours.id && theirs.copied == ours.copied)) return;
  throw StoreError(
      path.string(),
      str("the log beside it is another database's, whose place this file took, and "
          "would destroy it; remove ",
          names, ", which hold the last answers of that one, or choose another database"),
      2);
}

long SideFiles::open_elsewhere(const fs::path& database) {
  return locked_by(database, kShared, kSharedEnd, ::getpid());
}

SideFiles::SideFiles(const fs::path& database) : database_(database) {
  for (std::size_t f = 0; f < kEndings.size(); ++f)
    places_[f] = place_of(beside(database, kEndings[f]));
  Mark mark = mark_of(database);
  if (mark.id.empty() || mark.copied) set_mark(database, mark.id = make_uuid());
  // A mark on the log alone would make it look like another database's log.
  if (places_[0] != FilePlace{} && mark_of(database).id == mark.id)
    set_mark(beside(database, "-wal"), mark.id);
}

void SideFiles::remove() const {
  for (std::size_t f = 0; f < kEndings.size(); ++f)
    if (const fs::path file = beside(database_, kEndings[f]);
        places_[f] != FilePlace{} && place_of(file) == places_[f])
      ::unlink(file.c_str());
}

}  // namespace pardec
