// Kills, full disks and several processes: only whole jobs, and none twice.
#include <filesystem>

#include "src/support/error.hpp"
#include "tests/store/process.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;
namespace fs = std::filesystem;

namespace {

constexpr int kJobs = 200;
constexpr int kStack = 6;

Stack numbered(RowId run, int job, const std::string& process = "p-1") {
  return stack(run, keys(job * kStack, kStack), 0, process);
}

/// The database is valid, and each job in it has all its rows.
void check_whole_jobs(Store& store) {
  Database& db = store.database();
  Statement sound(db, "PRAGMA integrity_check");
  REQUIRE(sound.step());
  CHECK(sound.text(0) == "ok");
  CHECK(db.integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
  CHECK(db.integer("SELECT count(*) FROM job WHERE (SELECT count(*) FROM generation WHERE job_id = "
                   "job.id) <> ?",
                   kStack) == 0);
  CHECK(db.integer("SELECT count(*) FROM job WHERE (SELECT count(*) FROM step_histogram WHERE "
                   "job_id = job.id) <> 2") == 0);
  CHECK(db.integer("SELECT count(*) FROM generation WHERE (SELECT count(*) FROM score WHERE "
                   "generation_id = generation.id) <> 1") == 0);
  CHECK(db.integer("SELECT count(*) = (SELECT count(*) * ? FROM job) FROM generation", kStack) ==
        1);
}

/// Two ends of a pipe; the reader waits for the writer.
struct Pipe {
  Pipe() { REQUIRE(pipe(ends) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  void say() {
    if (write(ends[1], "x", 1) != 1) throw std::runtime_error("write failed");
  }
  void hear() {
    char c = 0;
    if (read(ends[0], &c, 1) != 1) throw std::runtime_error("read failed");
  }
  int ends[2];
};

/// Fills the store until it throws. Returns the number of committed jobs, and the error's exit
/// code.
std::pair<int, int> fill(Store& store, RowId run) {
  for (int job = 0; job < kJobs; ++job) {
    Stack big = numbered(run, job);
    big.job.text = std::string(20000, 'x');
    try {
      commit(store, big);
    } catch (const StoreError& error) {
      CHECK_THAT(error.what(), Catch::Contains("full") && Catch::Contains("`resume`"));
      return {job, error.exit_code()};
    }
  }
  return {kJobs, 0};
}

}  // namespace

TEST_CASE("kill -9 between jobs loses no committed job, and the run continues where it stopped") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  RunRow run = example_run();
  Pipe committed;
  const pid_t child = start([&] {
    Store store(file);
    const RowId id = begin(store, run, kJobs * kStack);
    for (int job = 0; job < kJobs; ++job) {
      commit(store, numbered(id, job, "killed"));
      committed.say();
    }
    pause();
  });
  for (int job = 0; job < 40; ++job) committed.hear();
  kill(child, SIGKILL);
  REQUIRE(wait_for(child) == -SIGKILL);

  Store store(file);
  check_whole_jobs(store);
  const RunRow found = store.find_runs({.label = "hpd", .status = RunStatus::running}).at(0);
  CHECK(found.uuid == run.uuid);
  const auto finished = store.finished_jobs(found.id);
  CHECK(finished.size() >= 40);
  CHECK(begin(store, run, kJobs * kStack) == found.id);
  std::size_t kept = 0;
  for (int job = 0; job < kJobs; ++job)
    kept += commit(store, numbered(found.id, job)) == Committed::kept;
  CHECK(kept == finished.size());
  check_whole_jobs(store);
  CHECK(store.finished_jobs(found.id).size() == kJobs);
}

TEST_CASE("kill -9 inside a transaction leaves nothing of that job") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  const RunRow run = example_run();
  const pid_t child = start([&] {
    Store store(file);
    const RowId id = begin(store, run, kJobs * kStack);
    commit(store, numbered(id, 0));
    const auto die = [](sqlite3_context*, int, sqlite3_value**) { raise(SIGKILL); };
    sqlite3_create_function(store.database().handle(), "die", 0, SQLITE_UTF8, nullptr, die, nullptr,
                            nullptr);
    store.database().execute(
        "CREATE TEMP TRIGGER dies AFTER INSERT ON main.generation "
        "WHEN (SELECT count(*) FROM main.generation WHERE job_id = NEW.job_id) = 4 BEGIN SELECT "
        "die(); END");
    commit(store, numbered(id, 1));
  });
  REQUIRE(wait_for(child) == -SIGKILL);
  Store store(file);
  check_whole_jobs(store);
  CHECK(store.find_runs({}).at(0).status == RunStatus::running);
  CHECK(store.finished_jobs(1).size() == 1);
  CHECK(commit(store, numbered(1, 1)) == Committed::inserted);
}

TEST_CASE("a full database stops the run with only whole jobs") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run(), kJobs * kStack);
  store.database().execute(
      str("PRAGMA max_page_count = ", store.database().integer("PRAGMA page_count") + 60));
  const auto [jobs, code] = fill(store, run);
  CHECK(code == 1);
  CHECK(jobs > 0);
  check_whole_jobs(store);
  CHECK(store.finished_jobs(run).size() == static_cast<std::size_t>(jobs));
  store.database().execute("PRAGMA max_page_count = 1000000");
  CHECK(commit(store, numbered(run, jobs)) == Committed::inserted);
}

TEST_CASE("a full disk stops the run with only whole jobs, and the file can still be opened") {
  TemporaryFolder folder;
  const fs::path inside = folder.path() / "mounted";
  Mount mount(inside, "size=1m");
  if (!mount.made) return;
  int jobs = 0;
  {
    Store store(inside / "x.sqlite");
    const RowId run = begin(store, example_run(), kJobs * kStack);
    const auto [done, code] = fill(store, run);
    CHECK(code == 1);
    CHECK(done > 0);
    check_whole_jobs(store);
    jobs = done;
  }
  fs::copy(inside, folder.path() / "copy");  // as it is on the disk, including its log
  for (const fs::path& file : {inside / "x.sqlite", folder.path() / "copy/x.sqlite"}) {
    Store store(file);
    check_whole_jobs(store);
    CHECK(store.finished_jobs(1).size() == static_cast<std::size_t>(jobs));
  }
}

TEST_CASE(
    "two processes that create and fill one database at once lose nothing and store nothing "
    "twice") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  const RunRow shared = example_run("shared");
  Pipe gun;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 2; ++writer) {
    children.push_back(start([&, writer] {
      gun.hear();
      Store store(file);
      const RowId own = begin(store, example_run(str("own-", writer)), kJobs * kStack);
      const RowId both = begin(store, shared, kJobs * kStack);
      const std::string process = str("p-", writer);
      for (int job = 0; job < kJobs; ++job) {
        commit(store, numbered(own, job, process));
        commit(store, numbered(both, job, process));
      }
      store.finish_run(own, RunStatus::done);
    }));
  }
  for (std::size_t i = 0; i < children.size(); ++i) gun.say();
  for (const pid_t child : children) CHECK(wait_for(child) == 0);

  Store store(file);
  check_whole_jobs(store);
  CHECK(store.find_runs({}).size() == 3);
  for (const char* label : {"own-0", "own-1", "shared"}) {
    const RunSummary summary = store.summaries({.label = label}).at(0);
    CHECK(summary.jobs == kJobs);
    CHECK(summary.generations == kJobs * kStack);
    CHECK(summary.totals.chosen == kJobs * 10);
  }
  CHECK(store.find_runs({.status = RunStatus::done}).size() == 2);
}

TEST_CASE("many processes may open a new database at the same moment") {
  for (int round = 0; round < 30; ++round) {
    TemporaryFolder folder;
    Pipe gun;
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(start([&] {
        gun.hear();
        Store store(folder.path() / "x.sqlite");
        store.put_environment({{"n", 1}});
      }));
    }
    for (std::size_t i = 0; i < children.size(); ++i) gun.say();
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    CHECK(
        Store(folder.path() / "x.sqlite").database().integer("SELECT count(*) FROM environment") ==
        1);
  }
}

TEST_CASE("a writer waits for another writer's lock") {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "x.sqlite";
  { Store store(file); }
  Pipe locked;
  const pid_t child = start([&] {
    Store store(file);
    Transaction transaction(store.database());
    locked.say();
    usleep(300000);
  });
  locked.hear();
  Store store(file);
  CHECK(store.put_environment({{"n", 1}}) > 0);
  CHECK(wait_for(child) == 0);
}
