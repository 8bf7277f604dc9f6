#include "src/store/store.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

const Json kFields = {{{"name", "Brand"}, {"annotated", true}, {"references", {"Nike"}}}};

/// Makes a database what it was in schema version 2, or 1.
void take_back(const std::filesystem::path& file, int version = 1) {
  Store store(file);
  store.database().execute(
      "ALTER TABLE job DROP COLUMN text_attended; ALTER TABLE job DROP COLUMN parallel; "
      "PRAGMA user_version = 2");
  if (version == 1)
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
  take_back(file);
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
  take_back(old);
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
    return c.text_attended == 0 && c.parallel.is_null();
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
