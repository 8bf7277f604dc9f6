// Opens the file: checks its type, writer and version, and chooses a journal mode.
#include "src/store/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <thread>
#include <utility>

#include "src/store/schema.hpp"
#include "src/store/side_files.hpp"
#include "src/store/views.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

namespace fs = std::filesystem;

/// 16 MB of pages: with SQLite's default of 2 MB, the pages of a large run are read from the system
/// again and again.
constexpr const char* kCache = "PRAGMA cache_size = -16384";

/// WAL shares memory between processes through the file system, which network file systems do not
/// support.
bool on_network(const fs::path& folder) {
  constexpr std::array<unsigned long, 13> kNetwork{
      0x6969,      // NFS
      0x517B,      // SMB
      0xFE534D42,  // SMB 2
      0xFF534D42,  // CIFS
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x00C36400,  // Ceph
      0x19830326,  // BeeGFS
      0x65735546,  // FUSE (sshfs and others; if it is local, only speed is lost)
      0x01021997,  // 9p
      0x5346414F,  // AFS
      0x01161970,  // GFS2
      0x7461636F,  // OCFS2
  };
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) return false;
  const unsigned long type = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFul;
  for (const unsigned long known : kNetwork) {
    if (type == known) return true;
  }
  return false;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// SQLite interprets some names as something other than a file of that name (e.g. a temporary
/// database), and the data is lost when the process ends.
void check_name(const fs::path& path) {
  const std::string& name = path.native();
  if (name.empty()) throw StoreError("`db`", "is empty, expected the path of a file", 2);
  if (name.starts_with(':') || name.starts_with("file:"))
    throw StoreError(name,
                     str("is no file to SQLite, which would keep nothing there, expected a path; "
                         "write ./",
                         name, ", or choose another database"),
                     2);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status))
    throw StoreError(name, "is a device, pipe or socket, expected a file; choose another database",
                     2);
}

void check_writable_path(const fs::path& path, bool create_folders) {
  const fs::path folder = folder_of(path);
  std::error_code error;
  if (create_folders) fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error)) {
    throw StoreError(
        path.string(),
        str("the folder ", folder.string(), " does not exist; make it, or choose another database"),
        2);
  }
  if (fs::is_directory(path, error)) {
    throw StoreError(path.string(), "is a folder, expected a file; choose another database", 2);
  }
  if (access(folder.c_str(), W_OK) != 0) {  // the journal is written next to the file
    throw StoreError(
        path.string(),
        str("the folder ", folder.string(), " may not be written; choose another database"), 2);
  }
}

std::string hexadecimal(int number) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "0x%08x", static_cast<unsigned>(number));
  return out.data();
}

/// Switching to WAL needs exclusive access for a moment, and SQLite does not wait for it.
void set_journal(Database& db, const std::string& mode) {
  using namespace std::chrono_literals;
  const auto current = [&] {
    Statement pragma(db, "PRAGMA journal_mode");
    return pragma.step() ? pragma.text(0) : std::string();
  };
  for (int attempt = 0; current() != mode; ++attempt) {
    Statement pragma(db, "PRAGMA journal_mode = " + mode);
    try {
      pragma.step();
      return;  // SQLite may keep another mode, which is equally safe
    } catch (const StoreError&) {
      if ((sqlite3_errcode(db.handle()) & 0xff) != SQLITE_BUSY || attempt > 600) throw;
      std::this_thread::sleep_for(50ms);
    }
  }
}

}  // namespace

bool Store::exists(const fs::path& path, OpenOptions options) {
  check_name(path);
  std::error_code error;
  if (options.create_folders && !fs::exists(folder_of(path), error)) return false;
  check_writable_path(path, /*create_folders=*/false);
  return fs::exists(path, error);
}

Store::Store(const fs::path& path, OpenOptions options) : path_(path), resumes_(options.resumes) {
  check_name(path);
  open(options);
  db_.execute(kCache);
  if (options.read_only) {
    use_all_columns(db_);
    return;
  }
  set_journal(db_, on_network(folder_of(path)) ? "delete" : "wal");
  db_.execute("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON");
  if (db_.integer("PRAGMA user_version") == 0)
    create_tables();
  else
    update_schema(db_);
  place_ = place_of(path_);
  side_files_ = SideFiles(sqlite3_db_filename(db_.handle(), "main"));
}

bool Store::is_lost() const {
  // SQLite compares the open file with the file that now has its name. If the path is a link, it
  // may lead to another file by now.
  return place_ != FilePlace{} && (db_.moved() || place_of(path_) != place_);
}

void Store::check_place() {
  if (!is_lost()) return;
  const std::string saved = rescue();
  throw StoreError(path_.string(),
                   str("was removed or replaced by another file during the run; ", saved), 1);
}

std::string Store::rescue() {
  std::string saved;
  const bool again = std::exchange(saved_, true);
  try {
    if (again && !recovered_.empty())  // update the copy with later data
      copy_into(recovered_);
    else
      recovered_ = save_beside(".recovered-");
    saved = str("the stored data was saved in ", recovered_.string(), "; continue with ",
                resumes_ ? "`resume` " : "", "`db` ", recovered_.string());
  } catch (const std::exception& error) {
    saved = str("the stored data could not be saved in a file next to it: ", error.what());
  }
  if (db_.moved()) {  // if only a link changed, the file keeps its log
    // Closing would apply the log with that name, which may now belong to another file.
    sqlite3_db_config(db_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    // A process that opens the file with this name would apply our log.
    sqlite3_wal_checkpoint_v2(db_.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    side_files_.remove();
  }
  return saved;
}

/// Copies the database to a new file next to it, whose name has this ending and a number.
std::filesystem::path Store::save_beside(const std::string& ending) {
  std::error_code ignored;
  fs::create_directories(folder_of(path_), ignored);
  for (int number = 1;; ++number) {
    const fs::path beside = str(path_.string(), ending, number);
    // With the same permissions as the database.
    const int fd = ::open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST) continue;
    if (fd < 0) throw StoreError(beside.string(), str("cannot be made: ", std::strerror(errno)), 1);
    ::fchmod(fd, mode_ & 0777);
    ::close(fd);
    copy_into(beside);
    return beside;
  }
}

void Store::copy_into(const std::filesystem::path& file) const {
  Database copy;
  copy.open(file, SQLITE_OPEN_READWRITE);
  db_.copy_to(copy);
}

Store::~Store() {
  if (!db_.handle()) return;
  if (!saved_ && is_lost()) try {
      rescue();
    } catch (const std::exception&) {  // there is no caller to report to
    }
  // Best effort: another process may be reading, or the disk may be full. The log is then merged by
  // the next process that opens the file.
  if (!sqlite3_db_readonly(db_.handle(), "main") && !db_.moved()) {
    sqlite3_busy_timeout(db_.handle(), 1000);
    sqlite3_exec(db_.handle(), "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  }
}

void Store::open(OpenOptions options) {
  SideFiles::check(path_);
  if (options.read_only) {
    std::error_code error;
    if (!fs::exists(path_, error)) {
      throw StoreError(path_.string(), "there is no such file, expected a database; give its path",
                       2);
    }
    if (fs::is_directory(path_, error)) {
      throw StoreError(path_.string(), "is a folder, expected a file; give the path of a database",
                       2);
    }
    open_read_only();
  } else {
    check_writable_path(path_, options.create_folders);
    db_.open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    struct stat info {};
    if (::stat(path_.c_str(), &info) == 0) mode_ = info.st_mode;
    if (sqlite3_db_readonly(db_.handle(), "main") == 1) db_.fail(SQLITE_READONLY);
  }

  // one consistent view: another process may be creating this database right now
  db_.execute("BEGIN");
  const int application = static_cast<int>(db_.integer("PRAGMA application_id"));
  const int version = static_cast<int>(db_.integer("PRAGMA user_version"));
  const bool empty = db_.integer("SELECT count(*) FROM sqlite_schema") == 0;
  db_.execute("COMMIT");
  if (empty && options.read_only) {
    throw StoreError(path_.string(),
                     "is an empty database, expected one that holds runs; give its path", 2);
  }
  if (application != kApplicationId && !(empty && application == 0)) {
    throw StoreError(path_.string(),
                     str("is an SQLite database of another application (application_id ",
                         hexadecimal(application), "), expected ", hexadecimal(kApplicationId),
                         "; choose another database"),
                     2);
  }
  if (!empty && version != schema_version()) {
    throw StoreError(path_.string(),
                     str("has schema version ", version, ", expected ", schema_version(),
                         "; use the pardec that made it, or choose another database"),
                     2);
  }
}

/// A WAL database in a read-only folder has no place for its shared memory. If a writer's shared
/// memory exists, SQLite reads it. Otherwise there is no writer, and the file is read without
/// locks, or as a copy if a killed writer left a log.
void Store::open_read_only() {
  db_.open(path_, SQLITE_OPEN_READONLY);
  try {
    db_.integer("SELECT count(*) FROM sqlite_schema");
  } catch (const StoreError&) {
    const int code = sqlite3_errcode(db_.handle()) & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
    const auto left = [&](const char* end) {
      std::error_code error;
      const auto size = fs::file_size(path_.string() + end, error);
      return !error && size > 0;
    };
    if (left("-wal") || left("-journal"))
      read_copy();
    else
      db_.open(path_, SQLITE_OPEN_READONLY, /*immutable=*/true);
  }
}

/// Reads a copy, into which SQLite can merge the log.
void Store::read_copy() {
  const auto state = [&] {
    std::vector<std::int64_t> out;
    for (const char* end : {"", "-wal", "-journal"}) {
      struct stat info {};
      if (::stat((path_.string() + end).c_str(), &info) == 0)
        out.insert(out.end(), {info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec});
    }
    return out;
  };
  std::string name = (fs::temp_directory_path() / "pardec-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw StoreError(path_.string(),
                     str("its folder may not be written, and it cannot be copied to ",
                         fs::temp_directory_path().string(), "; make room there, or set TMPDIR"),
                     2);
  const fs::path folder = name;
  struct Removed {
    const fs::path& folder;
    ~Removed() {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    }
  } removed{folder};
  const auto before = state();
  std::error_code error;
  for (const char* end : {"", "-wal", "-journal"})
    if (fs::exists(path_.string() + end) && !error)
      fs::copy_file(path_.string() + end, folder / str("copy", end), error);
  if (error || state() != before)
    throw StoreError(path_.string(),
                     str("its folder may not be written, and it cannot be copied: ",
                         error ? error.message() : "somebody writes to it",
                         "; copy it to a folder that may be written"),
                     2);
  fs::permissions(folder / "copy", fs::perms::owner_all, fs::perm_options::add, error);
  Database copy;
  copy.open(folder / "copy", SQLITE_OPEN_READWRITE);
  db_.open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
  copy.copy_to(db_);
  db_.execute("PRAGMA query_only = ON");
}

void Store::create_tables() {
  Transaction transaction(db_);
  // Another process may have created the tables while this one waited.
  if (db_.integer("PRAGMA user_version") == 0) db_.execute(schema_sql());
  transaction.commit();
}

std::string_view name(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::done:
      return "done";
    case RunStatus::failed:
      return "failed";
  }
  return "";
}

std::string make_uuid() {
  std::random_device device;
  std::array<unsigned, 4> word{};
  for (unsigned& bits : word) bits = device();
  word[1] = (word[1] & 0xffff0fffu) | 0x00004000u;  // version 4
  word[2] = (word[2] & 0x3fffffffu) | 0x80000000u;  // variant 1
  std::array<char, 40> out{};
  std::snprintf(out.data(), out.size(), "%08x-%04x-%04x-%04x-%04x%08x", word[0], word[1] >> 16,
                word[1] & 0xffffu, word[2] >> 16, word[2] & 0xffffu, word[3]);
  return out.data();
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::array<char, 40> out{};
  std::snprintf(out.data(), out.size(), "%s.%03dZ", date.data(), static_cast<int>(ms));
  return out.data();
}

}  // namespace pardec
