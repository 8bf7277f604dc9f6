// Shards of one run are read as one.
#include "src/support/error.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// Begins both arms of a shard, which does one block of two examples.
void do_shard(Store& store, int index, const std::string& invocation, int seed = 1) {
  for (const char* label : {"ar", "hpd"}) {
    RunRow run = example_run(label);
    run.invocation = invocation;
    run.shard = str(index, "/3");
    run.seed = static_cast<std::uint64_t>(seed);
    const RowId id = begin(store, run);
    measure(store, id, index, keys(2 * index, 2), 1000);
    store.finish_run(id, RunStatus::done);
  }
}

}  // namespace

TEST_CASE("shards of one run are one in a copy, whatever else the database has") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  CHECK(store.join_shards("") == nullptr);
  begin(store, example_run("alone"));
  CHECK(store.join_shards("") == nullptr);
  do_shard(store, 0, "first");
  do_shard(store, 2, "other", 2);  // of another run
  do_shard(store, 1, "twice");
  do_shard(store, 1, "second");
  do_shard(store, 2, "third");

  const auto check = [&](const std::string& keep, const std::string& kept) {
    const auto joined = store.join_shards(keep);
    REQUIRE(joined);
    const auto runs = joined->summaries({.invocation = kept});
    REQUIRE(runs.size() == 2);
    for (const RunSummary& run : runs) {
      CHECK(run.run.shard == "0/3, 1/3, 2/3");
      CHECK(run.generations == 6);
      CHECK(run.jobs == 3);
      CHECK(run.measured_blocks == 3);
      CHECK(run.run.status == RunStatus::done);
      CHECK(joined->jobs(run.run.id).size() == 3);
    }
    CHECK(block_pairs(*joined, runs[0].run.id, runs[1].run.id).size() == 3);
    CHECK(joined->find_runs({.invocation = "other"}).at(0).shard == "2/3");
    CHECK(joined->find_runs({.label = "alone"}).at(0).shard.empty());
    CHECK(joined->database().integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);
    CHECK_THROWS_AS(joined->finish_run(1, RunStatus::failed), StoreError);
  };
  check("", "third");
  check("first", "first");
  CHECK(store.shards_of("first") == std::vector<std::string>{"first", "second", "third"});
  CHECK(store.shards_of("twice") == std::vector<std::string>{"first", "twice", "third"});
  CHECK(store.shards_of("other") == std::vector<std::string>{"other"});
  CHECK(store.shards_of("invocation-1") == std::vector<std::string>{"invocation-1"});
  CHECK(store.summaries({.invocation = "third"}).at(0).generations == 2);  // the file is unchanged
}

TEST_CASE("a shard that is not finished, or lacks arms, is used as far as it goes") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  do_shard(store, 0, "first");
  RunRow run = example_run("ar");
  run.invocation = "second";
  run.shard = "1/3";
  run.seed = 1;
  measure(store, begin(store, run), 1, keys(2, 2), 1000);
  const auto joined = store.join_shards("");
  const auto runs = joined->summaries({.invocation = "second"});
  REQUIRE(runs.size() == 2);
  for (const RunSummary& one : runs) {
    CHECK(one.run.shard == "0/3, 1/3");
    CHECK(one.generations == (one.run.label == "ar" ? 4 : 2));
    CHECK(one.run.status == (one.run.label == "ar" ? RunStatus::running : RunStatus::done));
  }
}
