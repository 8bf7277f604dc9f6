// What Store says of a path that holds no database of ours.
#include <sys/stat.h>

#include <filesystem>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/store/process.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;
namespace fs = std::filesystem;

namespace {

/// The message with which opening fails, and its exit code in front; "opened" where it does not.
std::string refusal(const fs::path& path, OpenOptions options = {}) {
  try {
    Store store(path, options);
  } catch (const StoreError& error) {
    return str(error.exit_code(), " ", error.what());
  }
  return "opened";
}

void make_database(const fs::path& file, const std::string& sql) {
  Database db;
  db.open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  db.execute(sql);
}

}  // namespace

TEST_CASE("a path that does not exist yet becomes a database, its folder only on request") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "a/b/x.sqlite";
  CHECK(refusal(file) == str("2 ", file.string(), ": the folder ", file.parent_path().string(),
                             " does not exist; make it, or choose another --db"));
  CHECK(!fs::exists(folder.path() / "a"));
  CHECK(refusal(file, {.create_folders = true}) == "opened");
  CHECK(refusal(file) == "opened");
  CHECK(!fs::exists(file.string() + "-wal"));  // closing takes it in
}

TEST_CASE("closing takes the log into the file, also where another has it open") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite", log = folder.path() / "x.sqlite-wal";
  Store other(file);
  {
    Store store(file);
    begin(store, example_run());
    CHECK(fs::file_size(log) > 0);
  }
  CHECK(fs::file_size(log) == 0);
  CHECK(other.find_runs({}).size() == 1);
}

TEST_CASE("an empty file is a new database") {
  TemporaryFolder folder;
  write_file(folder.path() / "x.sqlite", "");
  CHECK(refusal(folder.path() / "x.sqlite") == "opened");
}

TEST_CASE("a file that is no database is refused and left as it is") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "notes.txt";
  for (const std::string& text : {std::string("hello\n"), std::string(5000, 'x')}) {
    write_file(file, text);
    for (const bool read_only : {false, true}) {
      CHECK(refusal(file, {.read_only = read_only}) ==
            str("2 ", file.string(),
                ": is not an SQLite database, expected one that pardec made; choose another --db"));
    }
    CHECK(read_file(file) == text);
  }
  CHECK_THAT(refusal(folder.path()), Catch::StartsWith("2 ") && Catch::Contains("is a folder"));
}

TEST_CASE("another application's database is refused and left as it is") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  make_database(file, "CREATE TABLE theirs (a)");
  CHECK_THAT(refusal(file), Catch::StartsWith("2 ") &&
                                Catch::Contains("another application (application_id 0x00000000)"));
  make_database(file, "PRAGMA application_id = 99");
  const std::string before = read_file(file);
  CHECK_THAT(refusal(file), Catch::Contains("application_id 0x00000063), expected 0x50415244"));
  CHECK(read_file(file) == before);
}

TEST_CASE("a newer schema is refused") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  CHECK(refusal(file) == "opened");
  make_database(file, "PRAGMA user_version = 7");
  CHECK(refusal(file) == str("2 ", file.string(),
                             ": has schema version 7 of a newer pardec, expected at most 4; "
                             "use that pardec, or choose another --db"));
}

TEST_CASE("what may not be written is refused, but can be read") {
  CHECK_THAT(refusal("/proc/x.sqlite"), Catch::StartsWith("2 /proc/x.sqlite: "));
  TemporaryFolder folder;
  const fs::path inside = folder.path() / "mounted";
  Mount mount(inside, "size=4m");
  if (mount.made) {
    {
      Store store(inside / "x.sqlite");
      commit(store, stack(begin(store, example_run()), keys(0, 2)));
    }
    REQUIRE(mount.make_read_only());
    CHECK_THAT(refusal(inside / "x.sqlite"),
               Catch::StartsWith("2 ") && Catch::Contains("may not be written"));
    CHECK_THAT(refusal(inside / "new.sqlite"),
               Catch::StartsWith("2 ") && Catch::Contains("may not be written"));
    Store reader(inside / "x.sqlite", {.read_only = true});
    CHECK(reader.generations(1).size() == 2);
    CHECK_THROWS_AS(reader.finish_run(1, RunStatus::done), StoreError);

    const fs::path file =
        folder.path() / "bound.sqlite";  // a read-only file in a folder that may be written
    CHECK(refusal(file) == "opened");
    REQUIRE(::mount(file.c_str(), file.c_str(), nullptr, MS_BIND, nullptr) == 0);
    REQUIRE(::mount(nullptr, file.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) ==
            0);
    const std::string said = refusal(file);
    umount2(file.c_str(), MNT_DETACH);
    CHECK_THAT(said, Catch::StartsWith("2 ") && Catch::Contains("may not be written"));
  }
  if (geteuid() != 0) {  // permissions do not bind root
    const fs::path file = folder.path() / "locked.sqlite";
    CHECK(refusal(file) == "opened");
    REQUIRE(chmod(file.c_str(), 0444) == 0);
    CHECK_THAT(refusal(file), Catch::StartsWith("2 ") && Catch::Contains("may not be written"));
    REQUIRE(chmod(file.c_str(), 0644) == 0);
    REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
    CHECK_THAT(refusal(file), Catch::StartsWith("2 ") && Catch::Contains("may not be written"));
    REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  }
}

TEST_CASE("reading makes no file and changes none") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  CHECK_THAT(refusal(file, {.read_only = true}),
             Catch::StartsWith("2 ") && Catch::Contains("no such file"));
  CHECK(!fs::exists(file));
  write_file(file, "");
  CHECK_THAT(refusal(file, {.read_only = true}),
             Catch::StartsWith("2 ") && Catch::Contains("empty database"));
  CHECK(fs::file_size(file) == 0);
}
