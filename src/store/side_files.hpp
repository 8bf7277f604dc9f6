#pragma once
#include <array>
#include <filesystem>

#include "src/support/read_files.hpp"

namespace pardec {

/// The files NAME-wal and NAME-shm that SQLite keeps next to an open database. SQLite finds them
/// only by name: if another file has replaced the database, SQLite applies the log of the old
/// database to the new file, page by page. A database and its log therefore carry the same mark (an
/// extended attribute, if the file system supports these).
class SideFiles {
 public:
  /// StoreError (exit code 2), naming the files: the files next to `database` belong to another
  /// database, which was replaced or removed while its process was running, or after it was killed.
  /// Call before opening the database.
  static void check(const std::filesystem::path& database);

  /// Process id of another process that has the database open; 0: none is visible.
  static long open_elsewhere(const std::filesystem::path& database);

  SideFiles() = default;
  /// The side files of a database that this process has open, found by its resolved path. Marks
  /// them and the database if they are writable.
  explicit SideFiles(const std::filesystem::path& database);

  /// Removes the side files whose names still lead to the same files.
  void remove() const;

 private:
  std::filesystem::path database_;
  std::array<FilePlace, 2> places_;
};

}  // namespace pardec
