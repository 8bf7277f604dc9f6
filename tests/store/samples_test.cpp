#include "src/store/store.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

const Json kFields = {{{"name", "Brand"}, {"annotated", true}, {"references", {"Nike"}}}};

/// Makes a database what it was before schema version 2.
void take_back(const std::filesystem::path& file) {
  Store store(file);
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
