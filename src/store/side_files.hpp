#pragma once
#include <array>
#include <filesystem>

#include "src/support/read_files.hpp"

namespace pardec {

/// The files NAME-wal and NAME-shm that SQLite keeps beside an open database. SQLite knows them by
/// their names alone: whoever opens another file that was put in the database's place takes in the
/// log of the old one, page by page. A database and its log therefore carry the same mark (an
/// extended attribute, where the file system has these).
class SideFiles {
 public:
  /// StoreError (exit code 2), with their names, where the files beside `database` are another
  /// one's: of a database that was replaced or removed, whose process goes on or was killed.
  /// Asked before the database is opened.
  static void check(const std::filesystem::path& database);

  /// Another process that has the database open; 0: none that can be seen.
  static long open_elsewhere(const std::filesystem::path& database);

  SideFiles() = default;
  /// Those of a database that this process has open, by its resolved path. Marks them, and the
  /// database, where they may be written.
  explicit SideFiles(const std::filesystem::path& database);

  /// Removes them, as far as the names still lead to the same files.
  void remove() const;

 private:
  std::filesystem::path database_;
  std::array<FilePlace, 2> places_;
};

}  // namespace pardec
