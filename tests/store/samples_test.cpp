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

}  // namespace

TEST_CASE("a sample keeps its text and the answers that count as right") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId dataset = store.put_dataset({"oa-mine", "test", "d", true});
  store.put_samples(dataset, std::vector<SampleRow>{{"a", "c", "Shoes", "Nike \xFF", kFields},
                                                    {"b", "c", "Shoes"}});
  store.put_samples(dataset, std::vector<SampleRow>{{"a", "c", "Shoes", "other", Json::array()},
                                                    {"c", "c", "Shoes", "late", kFields}});
  const auto samples = store.samples(dataset);
  REQUIRE(samples.size() == 3);
  CHECK(samples[0].text == "Nike \uFFFD");
  CHECK(samples[0].fields == kFields);
  CHECK(samples[1].text.empty());
  CHECK(samples[2].text == "late");
  CHECK(samples[2].fields == kFields);
}

TEST_CASE("merging includes texts") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  {
    Store store(file);
    const RowId dataset = store.dataset_of(store.begin_run(example_run()));
    store.put_samples(dataset, std::vector<SampleRow>{{"test-0", "c", "Coffee", "text", kFields}});
  }
  Store store(folder.path() / "all.sqlite");
  store.merge(file);
  store.merge(file);
  REQUIRE(store.samples(1).size() == 1);
  CHECK(store.samples(1)[0].text == "text");
  CHECK(store.samples(1)[0].fields == kFields);
}

TEST_CASE("turns are stored, and merged") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  Store store(file);
  const RowId run = begin(store, example_run());
  auto one = stack(run, keys(0, 2));
  one.job.turns.resize(2);
  one.job.turns[0].prompt = 3;
  one.job.turns[0].text = 2;
  one.job.turns[0].generated = 9;
  one.job.turns[1].prompt = 8;
  commit(store, one);
  commit(store, stack(run, keys(2, 2)));
  Store all(folder.path() / "all.sqlite");
  all.merge(file);
  for (Store* of : {&store, &all}) {
    const auto turns = of->jobs(1)[0].turns;
    REQUIRE(turns.size() == 2);
    CHECK(turns[0].prompt == 3);
    CHECK(turns[0].text == 2);
    CHECK(turns[0].generated == 9);
    CHECK(turns[1].prompt == 8);
    CHECK(turns[1].generated == 0);
    CHECK(of->jobs(1)[1].turns.empty());
  }
}

TEST_CASE("jobs are distinguished by the list of their samples, whatever characters the ids have") {
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

TEST_CASE("the jobs that shared a block's passes are stored with its time, and merged") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  RowId run = 0;
  const auto measure = [&](Store& store, int position, const BlockOccupancy& occupancy,
                           const Json& load = {}) {
    BlockRow block;
    block.run = run;
    block.position = position;
    block.samples = keys(2 * position, 2);
    const RowId id = store.begin_block(block);
    commit(store, stack(run, block.samples, id));
    CHECK(store.finish_block(id, "p-1", 100, occupancy, load));
  };
  const auto measured = [&](Store& store) {
    const BlockOccupancy sum = store.summaries({}).at(0).measured;
    return std::vector<std::int64_t>{sum.passes, sum.job_passes, sum.stream_passes,
                                     sum.experts_read};
  };
  Store store(file);
  run = begin(store, example_run());
  measure(store, 0, {10, 20, 70, 300});
  const Json load = Json::array({Json::array({500'000'000, 12.5, 30, 0})});
  measure(store, 1, {5, 5, 8, 41}, load);
  CHECK(measured(store) == std::vector<std::int64_t>{15, 25, 78, 341});
  Store all(folder.path() / "all.sqlite");
  all.merge(file);
  CHECK(measured(all) == std::vector<std::int64_t>{15, 25, 78, 341});
  for (Store* one : {&store, &all}) CHECK(one->loads_of(1) == std::vector<Json>{load});
  store.database().execute("UPDATE block SET wall_ns = NULL, process = NULL");
  CHECK(store.loads_of(1).empty());  // not measured as a whole
}

TEST_CASE(
    "the use of the machine by others is stored with a block's time, and again with a repeated "
    "time") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  RowId ar = 0, hpd = 0;
  std::vector<RowId> blocks;
  const auto measure = [&](Store& store, RowId run, int position, std::int64_t ns) {
    BlockRow block;
    block.run = run;
    block.position = position;
    block.samples = keys(2 * position, 2);
    blocks.push_back(store.begin_block(block));
    commit(store, stack(run, block.samples, blocks.back()));
    CHECK(store.finish_block(blocks.back(), "p-1", ns, {}, {},
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
    CHECK(!pairs[1].repaired);  // of only one arm
  };
  Store store(file);
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
  all.merge(file);
  all.merge(file);
  check(all);
  CHECK(store.jobs(ar)[0].counters.first_token_ns == 123);
  CHECK(all.jobs(1)[0].counters.first_token_ns == 123);
}

TEST_CASE("merging keeps names and notes of invocations, and lets no name occur twice") {
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

TEST_CASE("reads during a run that stores see a single moment") {
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
