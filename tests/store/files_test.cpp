// What Store says about a path that holds no pardec database.
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>

#include "src/store/schema.hpp"
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

/// The exit code and message with which opening fails; "opened" if it does not fail.
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

TEST_CASE("a path that does not exist becomes a database, its folder only on request") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "a/b/x.sqlite";
  CHECK(refusal(file) == str("2 ", file.string(), ": the folder ", file.parent_path().string(),
                             " does not exist; make it, or choose another database"));
  CHECK(!fs::exists(folder.path() / "a"));
  CHECK(refusal(file, {.create_folders = true}) == "opened");
  CHECK(refusal(file) == "opened");
  CHECK(!fs::exists(file.string() + "-wal"));  // closing takes the log in
}

TEST_CASE("closing takes the log into the file, even if another process has it open") {
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

TEST_CASE(
    "names that SQLite does not take for a file, and paths that are not plain files, are refused") {
  const auto folder_before = fs::current_path();
  TemporaryFolder folder;
  fs::current_path(folder.path());
  for (const bool read_only : {false, true}) {
    CHECK(refusal("", {.read_only = read_only}) == "2 `db`: is empty, expected the path of a file");
    for (const char* name : {":memory:", ":x", "file:x.sqlite", "file:x?mode=memory", "file:///x"})
      CHECK_THAT(refusal(name, {.read_only = read_only}),
                 Catch::StartsWith(str("2 ", name, ": is no file to SQLite")) &&
                     Catch::Contains(str("write ./", name)));
    REQUIRE((read_only || mkfifo("pipe", 0600) == 0));
    for (const char* name : {"pipe", "/dev/null", "/dev/full"})
      CHECK(refusal(name, {.read_only = read_only}) ==
            str("2 ", name,
                ": is a device, pipe or socket, expected a file; choose another database"));
  }
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // only the pipe
  // Names that would be special elsewhere are plain file names here.
  for (const char* name : {"./:memory:", "x?mode=memory", "a b%20c#d", "./file:y"}) {
    { Store store(name); }
    CHECK(fs::file_size(name) > 0);
    CHECK(refusal(name, {.read_only = true}) == "opened");
  }
  fs::current_path(folder_before);
}

TEST_CASE("a database that was removed or replaced while open is saved in a file beside it") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "runs/x.sqlite", moved = folder.path() / "elsewhere";
  const std::vector<std::pair<const char*, std::function<void()>>> ways{
      {"removed",
       [&] {
         for (const char* end : {"", "-wal", "-shm"}) fs::remove(file.string() + end);
       }},
      {"its folder removed", [&] { fs::remove_all(file.parent_path()); }},
      {"renamed", [&] { fs::rename(file, moved); }},
      {"replaced",
       [&] {
         write_file(moved, "another");
         fs::rename(moved, file);
       }},
  };
  for (const auto& [way, happens] : ways) {
    INFO(way);
    fs::create_directories(file.parent_path());
    for (int time = 1; time <= 2; ++time) {  // a saved copy stays
      const fs::path saved = str(file.string(), ".recovered-", time);
      {
        Store store(file, {.resumes = true});
        const RowId run = begin(store, example_run());
        commit(store, stack(run, keys(0, 2)));
        happens();
        try {
          commit(store, stack(run, keys(2, 2)));
          FAIL("not noticed");
        } catch (const StoreError& error) {
          CHECK(error.exit_code() == 1);
          CHECK_THAT(error.what(), Catch::Contains("was removed or replaced") &&
                                       Catch::Contains("`resume` `db` " + saved.string()));
        }
      }
      Store store(saved);
      CHECK(store.jobs(1).size() == 2);  // including the last one
      CHECK(store.generations(1).size() == 4);
      CHECK(commit(store, stack(1, keys(4, 2))) == Committed::inserted);
      for (const fs::path& left : {file, moved})
        for (const char* end : {"", "-wal", "-shm"}) fs::remove(left.string() + end);
      if (way == std::string("its folder removed")) break;
    }
    fs::remove_all(file.parent_path());
  }
}

TEST_CASE("a link to the database that is turned to another file is noticed") {
  TemporaryFolder folder;
  const fs::path link = folder.path() / "link.sqlite";
  fs::create_symlink("real.sqlite", link);
  Store store(link);
  const RowId run = begin(store, example_run());
  commit(store, stack(run, keys(0, 2)));
  fs::remove(link);
  fs::create_symlink("other.sqlite", link);
  CHECK_THROWS_WITH(store.finish_run(run, RunStatus::done),
                    Catch::Contains("link.sqlite.recovered-1"));
  CHECK(Store(folder.path() / "link.sqlite.recovered-1").jobs(1).size() == 1);
}

TEST_CASE("a process that lost its file does not touch what another process creates in its place") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  auto lost = std::make_unique<Store>(file);
  const RowId run = begin(*lost, example_run());
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(file.string() + end);
  const pid_t child = start([&] {
    Store store(file);
    const RowId other = begin(store, example_run("ar"));
    for (int job = 0; job < 5; ++job) commit(store, stack(other, keys(job, 1)));
    if (write(pipes[1], "x", 1) != 1) throw std::runtime_error("write failed");
    pause();
  });
  char c = 0;
  REQUIRE(read(pipes[0], &c, 1) == 1);
  CHECK_THROWS_AS(commit(*lost, stack(run, keys(0, 1))), StoreError);
  lost.reset();
  kill(child, SIGKILL);
  REQUIRE(wait_for(child) == -SIGKILL);
  close(pipes[0]);
  close(pipes[1]);
  Store store(file);
  CHECK(store.find_runs({}).at(0).label == "ar");
  CHECK(store.jobs(1).size() == 5);
}

namespace {

/// A database of so many jobs, closed.
void make_runs(const fs::path& file, int jobs) {
  Store store(file);
  const RowId run = begin(store, example_run());
  for (int job = 0; job < jobs; ++job) commit(store, stack(run, keys(job, 1)));
}

/// Opens `file`, stores this many jobs, and waits to be killed: the stored jobs are only in the
/// log.
pid_t start_writer(const fs::path& file, int jobs) {
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const pid_t child = start([&] {
    Store store(file);
    const RowId run = begin(store, example_run("ar"));
    for (int job = 0; job < jobs; ++job) commit(store, stack(run, keys(job, 1)));
    if (write(pipes[1], "x", 1) != 1) throw std::runtime_error("write failed");
    pause();
  });
  char c = 0;
  REQUIRE(read(pipes[0], &c, 1) == 1);
  close(pipes[0]);
  close(pipes[1]);
  return child;
}

void end(pid_t child) {
  kill(child, SIGKILL);
  REQUIRE(wait_for(child) == -SIGKILL);
}

std::vector<std::string> beside(const fs::path& file) {
  std::vector<std::string> found;
  for (const char* ending : {"-wal", "-shm"})
    if (fs::exists(file.string() + ending)) found.push_back(ending);
  return found;
}

}  // namespace

TEST_CASE("a file that replaces an open database stays unchanged, with all its answers") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite", good = folder.path() / "good.sqlite";
  for (const bool noticed : {true, false}) {
    INFO(noticed);
    make_runs(good, 12);
    const std::string content = read_file(good);
    {
      Store store(file);
      const RowId run = begin(store, example_run("ar"));
      for (int job = 0; job < 5; ++job) commit(store, stack(run, keys(job, 1)));
      fs::rename(good, file);
      if (noticed) CHECK_THROWS_AS(commit(store, stack(run, keys(5, 1))), StoreError);
      if (noticed) CHECK(beside(file).empty());
    }
    CHECK(beside(file).empty());
    CHECK(read_file(file) == content);
    CHECK(Store(file).jobs(1).size() == 12);
    const fs::path saved = file.string() + ".recovered-1";
    CHECK(Store(saved).jobs(1).size() == (noticed ? 6 : 5));
    fs::remove(saved);
    fs::remove(file);
  }
}

TEST_CASE("the log of another database is refused by name, and never taken in") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite", good = folder.path() / "good.sqlite";
  make_runs(good, 12);
  fs::copy_file(good, folder.path() / "reserve");
  // Replaced by an independent database, and by a copy with all attributes.
  for (const bool copy : {false, true}) {
    INFO(copy);
    make_runs(file, 0);
    if (copy) {
      const std::string command = str("cp -a ", file.string(), " ", good.string());
      REQUIRE(std::system(command.c_str()) == 0);
    }
    const std::string content = read_file(good);
    const pid_t writer = start_writer(file, 5);
    fs::rename(good, file);
    for (const bool alive : {true, false}) {
      if (!alive) end(writer);
      for (const bool read_only : {true, false}) {
        const std::string said = refusal(file, {.read_only = read_only});
        CHECK_THAT(said, Catch::StartsWith("2 ") && Catch::Contains(file.string() + "-wal") &&
                             Catch::Contains(file.string() + "-shm"));
        CHECK((!alive || said.find(str("process ", writer)) != std::string::npos));
      }
    }
    CHECK(read_file(file) == content);
    for (const char* ending : {"-wal", "-shm"}) fs::remove(file.string() + ending);
    CHECK(refusal(file) == "opened");
    if (!copy) CHECK(Store(file).jobs(1).size() == 12);
    fs::remove(file);
    fs::copy_file(folder.path() / "reserve", good, fs::copy_options::overwrite_existing);
  }
}

TEST_CASE(
    "a database that was removed while a process writes is not created again beside its log") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  const pid_t writer = start_writer(file, 5);
  fs::remove(file);
  CHECK_THAT(refusal(file), Catch::StartsWith("2 ") && Catch::Contains(str("process ", writer)));
  end(writer);
  CHECK(refusal(file) == "opened");
  CHECK(Store(file).find_runs({}).empty());
}

TEST_CASE("a killed process's log is taken in, also if both files were moved or copied") {
  TemporaryFolder folder;
  for (const char* how : {"stays", "mv", "cp", "cp -a", "folder"}) {
    INFO(how);
    fs::path file = folder.path() / "a/x.sqlite";
    fs::create_directories(folder.path() / "a");
    fs::create_directories(folder.path() / "b");
    end(start_writer(file, 5));
    if (how == std::string("folder")) {
      fs::remove_all(folder.path() / "b");
      fs::rename(folder.path() / "a", folder.path() / "b");
    } else if (how != std::string("stays")) {
      REQUIRE(std::system(str(how, " ", file.string(), " ", file.string(), "-wal ",
                              (folder.path() / "b").string())
                              .c_str()) == 0);
    }
    if (how != std::string("stays")) file = folder.path() / "b/x.sqlite";
    CHECK(refusal(file, {.read_only = true}) == "opened");
    CHECK(Store(file).jobs(1).size() == 5);
    end(start_writer(file, 5));  // the log of a second one
    CHECK(refusal(file) == "opened");
    fs::remove_all(folder.path() / "a");
    fs::remove_all(folder.path() / "b");
  }
}

TEST_CASE("jobs stored after a database was lost are in the same copy") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  {
    Store store(file);
    const RowId run = begin(store, example_run());
    fs::remove(file);
    for (int job = 0; job < 3; ++job)
      CHECK_THROWS_AS(commit(store, stack(run, keys(job, 1))), StoreError);
  }
  CHECK(Store(file.string() + ".recovered-1").jobs(1).size() == 3);
  CHECK(!fs::exists(file.string() + ".recovered-2"));
}

TEST_CASE("copies have the same permissions as the database") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  for (const auto mode : {fs::perms(0600), fs::perms(0640), fs::perms(0644)}) {
    { Store store(file); }
    fs::permissions(file, mode);
    Store store(file);
    fs::remove(file);
    CHECK_THROWS_AS(store.check_place(), StoreError);
    const fs::path saved = file.string() + ".recovered-1";
    CHECK(fs::status(saved).permissions() == mode);
    fs::remove(saved);
  }
}

TEST_CASE("a database that is open under another name, a hard link, is refused") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite", other = folder.path() / "y.sqlite";
  make_runs(file, 2);
  fs::create_hard_link(file, other);
  CHECK(refusal(other) == "opened");
  const pid_t writer = start_writer(file, 5);
  for (const bool read_only : {true, false})
    CHECK_THAT(refusal(other, {.read_only = read_only}),
               Catch::StartsWith("2 ") && Catch::Contains(str("process ", writer)));
  CHECK(refusal(file) == "opened");
  end(writer);
  CHECK(Store(file).jobs(2).size() == 5);
}

TEST_CASE("an empty file is a new database") {
  TemporaryFolder folder;
  write_file(folder.path() / "x.sqlite", "");
  CHECK(refusal(folder.path() / "x.sqlite") == "opened");
}

TEST_CASE("a file that is not a database is refused and left unchanged") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "notes.txt";
  for (const std::string& text : {std::string("hello\n"), std::string(5000, 'x')}) {
    write_file(file, text);
    for (const bool read_only : {false, true}) {
      CHECK(refusal(file, {.read_only = read_only}) ==
            str("2 ", file.string(),
                ": is not an SQLite database, expected one that pardec made; choose another "
                "database"));
    }
    CHECK(read_file(file) == text);
  }
  CHECK_THAT(refusal(folder.path()), Catch::StartsWith("2 ") && Catch::Contains("is a folder"));
}

TEST_CASE("another application's database is refused and left unchanged") {
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

TEST_CASE("a database of another schema version is refused and left unchanged") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite", ours = folder.path() / "y.sqlite";
  for (const fs::path& one : {file, ours}) CHECK(refusal(one) == "opened");
  for (const int version : {0, schema_version() + 1, 7, -1}) {
    CAPTURE(version);
    make_database(file, str("PRAGMA user_version = ", version));
    const std::string before = read_file(file);
    const std::string said =
        str(file.string(), ": has schema version ", version, ", expected ", schema_version(),
            "; use the pardec that made it, or choose another database");
    for (const bool read_only : {false, true})
      CHECK(refusal(file, {.read_only = read_only}) == "2 " + said);
    Store store(ours);
    CHECK_THROWS_WITH(store.merge(file), said);
    CHECK(read_file(file) == before);
  }
}

TEST_CASE("a read-only database is refused for writing, but can be read") {
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

TEST_CASE("a database in a read-only folder is read, with what a killed writer left") {
  TemporaryFolder folder;
  const fs::path open = folder.path() / "open", closed = folder.path() / "closed";
  fs::create_directories(open);
  const pid_t writer = start([&] {
    Store store(open / "killed.sqlite");
    commit(store, stack(begin(store, example_run()), keys(0, 2)));
    raise(SIGKILL);
  });
  REQUIRE(wait_for(writer) == -SIGKILL);
  {
    Store store(open / "ended.sqlite");
    commit(store, stack(begin(store, example_run()), keys(0, 2)));
  }
  REQUIRE(fs::file_size(open / "killed.sqlite-wal") > 0);
  fs::copy(open, closed);
  fs::remove(closed / "killed.sqlite-shm");  // the copy has none
  for (const auto& place : {open, closed}) fs::permissions(place, fs::perms(0555));
  fs::permissions(folder.path(), fs::perms(0755));
  const auto list = [&] {
    std::set<std::string> names;
    for (const auto& place : {open, closed})
      for (const auto& entry : fs::directory_iterator(place)) names.insert(entry.path().string());
    return names;
  };
  const auto before = list();
  const pid_t reader = start([&] {
    if (geteuid() == 0 && setuid(65534) != 0) throw std::runtime_error("setuid failed");
    for (const auto& place : {open, closed})
      for (const char* name : {"killed.sqlite", "ended.sqlite"}) {
        Store store(place / name, {.read_only = true});
        if (store.generations(1).size() != 2) throw std::runtime_error("answers are missing");
        try {
          store.finish_run(1, RunStatus::done);
        } catch (const StoreError&) {
          continue;
        }
        throw std::runtime_error("it could be written");
      }
  });
  CHECK(wait_for(reader) == 0);
  CHECK(list() == before);
  for (const auto& place : {open, closed}) fs::permissions(place, fs::perms(0755));
}

TEST_CASE("reading creates no file and changes none") {
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
