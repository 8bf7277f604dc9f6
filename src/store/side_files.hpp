#pragma once
#include <array>
#include <filesystem>

#include "src/support/read_files.hpp"

namespace pardec {

/// The files NAME-wal and NAME-shm that SQLite keeps next to an open database. SQLite finds them by
/// name only. If another file has replaced the database, SQLite would apply the log of the old
/// database to the new file and corrupt it. Therefore this class gives a database and its log the
/// same mark: an extended attribute, if the file system supports extended attributes.
class SideFiles {
 public:
  /// Call this before opening the database. Throws StoreError (exit code 2) in two cases. First,
  /// the side files belong to another database, which was replaced or removed while a process used
  /// it, or after such a process was killed. The message then names the side files. Second, another
  /// process has the database open under another name (a hard link).
  static void check(const std::filesystem::path& database);

  /// The id of another process that has the database open; 0: no such process is visible.
  static long open_elsewhere(const std::filesystem::path& database);

  SideFiles() = default;
  /// Marks the database and its side files if they are writable. REQUIRES: this process has the
  /// database open; `database` is its resolved path.
  explicit SideFiles(const std::filesystem::path& database);

  /// Removes the side files, but not files that have replaced them under their names.
  void remove() const;

 private:
  std::filesystem::path database_;
  std::array<FilePlace, 2> places_;
};

}  // namespace pardec
