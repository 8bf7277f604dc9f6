#include <atomic>
#include <set>
#include <thread>

#include "src/store/store.hpp"
#include "src/support/text.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

const Json kFields = {{{"name", "Brand"}, {"annotated", true}, {"references", {"Nike"}}}};

/// Makes a database what it was in schema version 6, 5, 4, 3, 2 or 1.
void take_back(const std::filesystem::path& file, int version) {
  Store store(file);
  store.database().execute("ALTER TABLE job DROP COLUMN turns; PRAGMA user_version = 6");
  if (version == 6) return;
  store.database().execute(
      "DROP TABLE comparison; DROP TABLE judgment; DROP TABLE judge_reply; "
      "DROP TABLE judge_attempt; DROP TABLE protocol; DROP TABLE judge; "
      "CREATE TABLE judge_cache (key TEXT PRIMARY KEY) STRICT; "
      "CREATE TABLE judgment (id INTEGER PRIMARY KEY, "
      "generation_id INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE, "
      "cache_key TEXT REFERENCES judge_cache (key)) STRICT; PRAGMA user_version = 5");
  if (version == 5) return;
  store.database().execute(
      "DROP TABLE block_repair; DROP TABLE invocation; "
      "ALTER TABLE block DROP COLUMN cpu_ns; ALTER TABLE block DROP COLUMN waited_ns; "
      "ALTER TABLE block DROP COLUMN stolen_ns; ALTER TABLE block DROP COLUMN mhz; "
      "ALTER TABLE block DROP COLUMN traced; ALTER TABLE job DROP COLUMN first_token_ns; "
      "PRAGMA user_version = 4");
  if (version == 4) return;
  store.database().execute(
      "PRAGMA ignore_check_constraints = 1; "
      "UPDATE job SET key = (SELECT group_concat(value, '+') FROM json_each(job.key)); "
      "ALTER TABLE block DROP COLUMN passes; ALTER TABLE block DROP COLUMN job_passes; "
      "ALTER TABLE block DROP COLUMN stream_passes; PRAGMA user_version = 3");
  if (version <= 2)
    store.database().execute(
        "ALTER TABLE job DROP COLUMN text_attended; ALTER TABLE job DROP COLUMN parallel; "
        "PRAGMA user_version = 2");
  if (version <= 1)
    store.database().execute(
        "ALTER TABLE sample DROP COLUMN text; ALTER TABLE sample DROP COLUMN fields; "
        "PRAGMA user_version = 1");
}

}  // namespace

TEST_CASE("a sample keeps its text and what counts as right") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId dataset = store.put_dataset({"oa-mine", "test", "d", true});
  store.put_samples(dataset, std::vector<SampleRow>{{"a", "c", "Shoes", "Nike \xFF", kFields},
                                                    {"b", "c", "Shoes"}});
  store.put_samples(dataset, std::vector<SampleRow>{{"a", "c", "Shoes", "other", Json::array()},
                                                    {"b", "c", "Shoes", "late", kFields}});
  const auto samples = store.samples(dataset);
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].text == "Nike \uFFFD");
  CHECK(samples[0].fields == kFields);
  CHECK(samples[1].text == "late");
  CHECK(samples[1].fields == kFields);
}

TEST_CASE("a database of version 1 is read as it is, and brought up to date by who writes") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  {
    Store store(file);
    begin(store, example_run(), 2);
  }
  take_back(file, 1);
  {
    Store store(file, {.read_only = true});
    REQUIRE(store.samples(1).size() == 2);
    CHECK(store.samples(1)[0].key == "test-0");
    CHECK(store.samples(1)[0].text.empty());
    CHECK(store.database().integer("PRAGMA user_version") == 1);
  }
  Store store(file);
  CHECK(store.database().integer("PRAGMA user_version") == kSchemaVersion);
  store.put_samples(1, std::vector<SampleRow>{{"test-0", "x", "y", "text", kFields}});
  CHECK(store.samples(1)[0].text == "text");
  CHECK(store.samples(1)[0].fields == kFields);
  CHECK(store.samples(1)[1].text.empty());
}

TEST_CASE("a database of version 5 is brought up to date, with a copy of what it was beside it") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite", copy = folder.path() / "x.sqlite.schema-5-1",
             fresh = folder.path() / "fresh.sqlite";
  {
    Store store(file);
    commit(store, stack(begin(store, example_run()), keys(0, 2)));
  }
  take_back(file, 5);
  const auto shapes = [](Store& store) {
    std::set<std::string> out;
    Statement find(store.database(),
                   "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'");
    while (find.step()) out.insert(str(find.text(1), " ", find.text(0)));
    Statement columns(store.database(),
                      "SELECT t.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema AS t "
                      "JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'");
    while (columns.step())
      out.insert(str(columns.text(0), " ", columns.text(1), " ", columns.text(2), " ",
                     columns.integer(3)));
    return out;
  };
  {
    Store store(file, {.read_only = true});
    CHECK(store.generations(1).size() == 2);
    CHECK_FALSE(std::filesystem::exists(copy));
  }
  {
    Store store(file), made(fresh);
    CHECK(store.database().integer("PRAGMA user_version") == kSchemaVersion);
    CHECK(shapes(store) == shapes(made));
    CHECK(store.generations(1).size() == 2);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "fresh.sqlite.schema-0-1"));
  {
    Store before(copy, {.read_only = true});
    CHECK(before.database().integer("PRAGMA user_version") == 5);
    CHECK(before.generations(1).size() == 2);
    CHECK(before.database().integer("SELECT count(*) FROM judge_cache") == 0);
  }
  Store again(file);  // nothing is left to be done
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x.sqlite.schema-5-2"));
}

TEST_CASE("merging takes texts along, from either version") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite", now = folder.path() / "now.sqlite";
  for (const auto& file : {old, now}) {
    Store store(file);
    const RowId run = begin(store, example_run(), 2);
    if (file == now)
      store.put_samples(store.dataset_of(run),
                        std::vector<SampleRow>{{"test-0", "c", "Coffee", "text", kFields}});
  }
  take_back(old, 1);
  Store store(folder.path() / "all.sqlite");
  store.merge(old);
  CHECK(store.samples(1)[0].text.empty());
  store.merge(now);
  store.merge(old);
  CHECK(store.samples(1).size() == 2);
  CHECK(store.samples(1)[0].text == "text");
}

TEST_CASE("jobs of a database of version 2 are read, merged and brought up to date") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite";
  RowId run = 0;
  {
    Store store(old);
    run = begin(store, example_run());
    commit(store, stack(run, keys(0, 2)));
  }
  take_back(old, 2);
  const auto empty = [](const JobCounters& c) {
    return c.text_attended == 0 && c.parallel.is_null() && c.turns.is_null();
  };
  {
    Store store(old, {.read_only = true});
    REQUIRE(store.jobs(run).size() == 1);
    CHECK(empty(store.jobs(run)[0].counters));
    CHECK(store.jobs(run)[0].counters.cached_peak == 114);
  }
  {
    Store all(folder.path() / "all.sqlite");
    all.merge(old);
    REQUIRE(all.jobs(1).size() == 1);
    CHECK(empty(all.jobs(1)[0].counters));
  }
  Store store(old);
  CHECK(store.database().integer("PRAGMA user_version") == kSchemaVersion);
  CHECK(empty(store.jobs(run)[0].counters));
  commit(store, stack(run, keys(2, 2)));
  CHECK(store.jobs(run)[1].counters.text_attended == 77);
  Store all(folder.path() / "all2.sqlite");
  all.merge(old);
  CHECK(all.jobs(1)[1].counters.parallel == stack(run, keys(2, 2)).job.counters.parallel);
}

TEST_CASE("turns are stored, merged, and none of a database of version 6") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite";
  const Json turns = {{{"prompt_tokens", 3}, {"text_tokens", 2}}, {{"prompt_tokens", 8}}};
  RowId run = 0;
  {
    Store store(old);
    run = begin(store, example_run());
    auto one = stack(run, keys(0, 2));
    one.job.counters.turns = turns;
    commit(store, one);
    CHECK(store.jobs(run)[0].counters.turns == turns);
    Store all(folder.path() / "all.sqlite");
    all.merge(old);
    CHECK(all.jobs(1)[0].counters.turns == turns);
  }
  take_back(old, 6);
  {
    Store store(old, {.read_only = true});
    CHECK(store.jobs(run)[0].counters.turns.is_null());
    Store all(folder.path() / "all6.sqlite");
    all.merge(old);
    CHECK(all.jobs(1)[0].counters.turns.is_null());
  }
  Store store(old);
  CHECK(store.database().integer("PRAGMA user_version") == kSchemaVersion);
  CHECK(store.jobs(run)[0].counters.turns.is_null());
}

TEST_CASE("jobs are told apart by the list of their samples, whatever the ids hold") {
  TemporaryFolder folder;
  const std::vector<std::string> ids{"a+b", "c",      "a",         "b+c",  "/x/0", "tab\t\x01",
                                     "é😀",  "q\"u'o", "new\nline", "a, b", "[]",   "back\\slash"};
  std::vector<SampleRow> rows;
  for (const std::string& id : ids) rows.push_back({id, id, "Coffee"});
  const auto file = folder.path() / "x.sqlite";
  RowId run = 0;
  const auto pair_at = [&](size_t i) { return JobKey{ids[i], ids[i + 1]}; };
  {
    Store store(file);
    run = store.begin_run(example_run());
    store.put_samples(store.dataset_of(run), rows);
    for (size_t i = 0; i < ids.size(); i += 2)
      CHECK(commit(store, stack(run, pair_at(i))) == Committed::inserted);
    CHECK(commit(store, stack(run, pair_at(2))) == Committed::kept);
  }
  const auto check = [&](Store& store) {
    const auto jobs = store.jobs(1);
    const auto generations = store.generations(1);
    REQUIRE(jobs.size() == ids.size() / 2);
    REQUIRE(generations.size() == ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      CHECK(jobs[i / 2].key == pair_at(i / 2 * 2));
      CHECK(generations[i].job == jobs[i / 2].key);
      CHECK(generations[i].row.sample == ids[i]);
    }
  };
  {
    Store store(file);
    check(store);
    Store all(folder.path() / "all.sqlite");
    all.merge(file);
    all.merge(file);
    check(all);
    std::set<JobKey> finished;
    for (const auto& job : all.finished_jobs(1)) finished.insert(job.key);
    CHECK(finished.size() == ids.size() / 2);
    CHECK(finished.contains(JobKey{"a", "b+c"}));
  }
}

TEST_CASE("joined keys of a database of version 3 become lists by their generations") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite";
  const JobKey key{"b+1", "a+", "+\"\n"};
  {
    Store store(old);
    const RowId run = store.begin_run(example_run());
    store.put_samples(store.dataset_of(run),
                      std::vector<SampleRow>{
                          {"a+", "c", "Coffee"}, {"b+1", "c", "Coffee"}, {"+\"\n", "c", "Coffee"}});
    commit(store, failed(stack(run, key), "out of luck"));
  }
  take_back(old, 3);
  {
    Store store(old, {.read_only = true});
    CHECK(store.database().integer("SELECT key = 'b+1+a+++\"' || char(10) FROM job") == 1);
    CHECK(store.jobs(1)[0].key == key);
    CHECK(store.generations(1)[0].job == key);
  }
  Store all(folder.path() / "all.sqlite");
  all.merge(old);
  CHECK(all.jobs(1)[0].key == key);
  {
    Store store(old);  // brought up to date
    CHECK(store.database().integer("PRAGMA user_version") == kSchemaVersion);
    CHECK(store.finished_jobs(1)[0].key == key);
    CHECK(commit(store, stack(1, key)) == Committed::replaced);
  }
  all.merge(old);
  CHECK(all.jobs(1).size() == 1);
  CHECK(!all.jobs(1)[0].error);
}

TEST_CASE("what shared a block's passes is stored with its time, and not known of before") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite";
  RowId run = 0;
  const auto measure = [&](Store& store, int position, const BlockOccupancy& occupancy) {
    BlockRow block;
    block.run = run;
    block.position = position;
    block.samples = keys(2 * position, 2);
    const RowId id = store.begin_block(block);
    commit(store, stack(run, block.samples, id));
    CHECK(store.finish_block(id, "p-1", 100, occupancy));
  };
  const auto measured = [&](Store& store) {
    const BlockOccupancy sum = store.summaries({}).at(0).measured;
    return std::vector<std::int64_t>{sum.passes, sum.job_passes, sum.stream_passes};
  };
  {
    Store store(old);
    run = begin(store, example_run());
    measure(store, 0, {10, 20, 70});
    measure(store, 1, {5, 5, 8});
    CHECK(measured(store) == std::vector<std::int64_t>{15, 25, 78});
    Store all(folder.path() / "all.sqlite");
    all.merge(old);
    CHECK(measured(all) == std::vector<std::int64_t>{15, 25, 78});
  }
  take_back(old, 3);
  const std::vector<std::int64_t> none{0, 0, 0};
  {
    Store store(old, {.read_only = true});
    CHECK(measured(store) == none);
    Store all(folder.path() / "old-all.sqlite");
    all.merge(old);
    CHECK(measured(all) == none);
  }
  Store store(old);
  CHECK(measured(store) == none);
  measure(store, 2, {4, 8, 9});
  CHECK(measured(store) == std::vector<std::int64_t>{4, 8, 9});
}

TEST_CASE("who had the machine is stored with a block's time, and the time once more") {
  TemporaryFolder folder;
  const auto old = folder.path() / "old.sqlite";
  RowId ar = 0, hpd = 0;
  std::vector<RowId> blocks;
  const auto measure = [&](Store& store, RowId run, int position, std::int64_t ns) {
    BlockRow block;
    block.run = run;
    block.position = position;
    block.samples = keys(2 * position, 2);
    blocks.push_back(store.begin_block(block));
    commit(store, stack(run, block.samples, blocks.back()));
    CHECK(store.finish_block(blocks.back(), "p-1", ns, {},
                             {{ns - 1, ns / 10, ns / 20, 2400.5}, position == 1}));
  };
  const auto check = [&](Store& store) {
    const auto runs = store.find_runs({});
    const auto found = [&](const std::string& label) {
      return std::find_if(runs.begin(), runs.end(), [&](auto& r) { return r.label == label; })->id;
    };
    const auto pairs = block_pairs(store, found("ar"), found("hpd"));
    REQUIRE(pairs.size() == 2);
    CHECK(pairs[0].baseline.use.machine.cpu_ns == 999);
    CHECK(pairs[0].baseline.use.machine.waited_ns == 100);
    CHECK(pairs[0].method.use.machine.stolen_ns == 25);
    CHECK(pairs[0].method.use.machine.mhz == 2400.5);
    CHECK(!pairs[0].method.use.traced);
    CHECK(pairs[1].method.use.traced);
    REQUIRE(pairs[0].repaired);
    CHECK(pairs[0].repaired->first.wall_ns == 900);
    CHECK(pairs[0].repaired->second.wall_ns == 450);
    CHECK(pairs[0].repaired->second.use.machine.waited_ns == 3);
    CHECK(!pairs[1].repaired);  // of one arm alone
  };
  {
    Store store(old);
    ar = begin(store, example_run("ar"));
    hpd = begin(store, example_run());
    measure(store, ar, 0, 1000);
    measure(store, hpd, 0, 500);
    measure(store, ar, 1, 1000);
    measure(store, hpd, 1, 500);
    store.repair_block(blocks[0], "p-2", 901, {});
    store.repair_block(blocks[0], "p-2", 900, {});
    store.repair_block(blocks[1], "p-2", 450, {1, 3, std::nullopt, std::nullopt});
    store.repair_block(blocks[2], "p-2", 900, {});
    check(store);
    Store all(folder.path() / "all.sqlite");
    all.merge(old);
    all.merge(old);
    check(all);
    CHECK(store.jobs(ar)[0].counters.first_token_ns == 123);
    CHECK(all.jobs(1)[0].counters.first_token_ns == 123);
  }
  take_back(old, 4);
  {
    Store store(old, {.read_only = true});
    const auto pairs = block_pairs(store, ar, hpd);
    REQUIRE(pairs.size() == 2);
    CHECK(pairs[0].baseline.wall_ns == 1000);
    CHECK(!pairs[0].baseline.use.machine.cpu_ns);
    CHECK(!pairs[0].repaired);
    CHECK(!store.jobs(ar)[0].counters.first_token_ns);
    Store all(folder.path() / "old-all.sqlite");
    all.merge(old);
    CHECK(block_pairs(all, 1, 2).size() == 2);
  }
  Store store(old);
  CHECK(block_pairs(store, ar, hpd).size() == 2);
}

TEST_CASE("merging keeps names and notes of invocations, and lets no name stand twice") {
  TemporaryFolder folder;
  const auto named = [&](const std::string& file, const std::string& uuid) {
    Store store(folder.path() / file);
    store.database().run("INSERT INTO invocation VALUES (?, 'nightly', 'quiet machine')", uuid);
    return store.path();
  };
  const auto first = named("a.sqlite", "u-1"), second = named("b.sqlite", "u-2");
  Store store(first);
  store.merge(second);
  store.merge(second);
  Database& db = store.database();
  CHECK(db.integer("SELECT count(*) FROM invocation WHERE note = 'quiet machine'") == 2);
  CHECK(db.integer("SELECT name = 'nightly' FROM invocation WHERE uuid = 'u-1'") == 1);
  CHECK(db.integer("SELECT name = 'nightly (2)' FROM invocation WHERE uuid = 'u-2'") == 1);
}

TEST_CASE("what is read beside a run that stores is of one moment") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  constexpr int kJobs = 300;
  Store store(file);
  const RowId run = begin(store, example_run(), 2 * kJobs);
  std::atomic<bool> ended = false;
  std::thread other([&] {
    Store writing(file);
    for (int i = 0; i < kJobs; ++i) commit(writing, stack(run, keys(2 * i, 2)));
    ended = true;
  });
  for (bool last = false; !last;) {
    last = ended;
    const Figures figures = store.figures(store.find_runs({}));
    const auto& found = figures.runs.front();
    CHECK(found.answers.size() == 2 * found.jobs.size());
    CHECK((!last || found.jobs.size() == kJobs));
  }
  other.join();
}
