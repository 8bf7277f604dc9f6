#include "src/store/invocations.hpp"

#include "src/support/error.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A run of an invocation with one measured block of two samples.
RowId measured_run(Store& store, const std::string& invocation, const std::string& label,
                   const std::string& dataset = "oa-mine") {
  RunRow run = example_run(label);
  run.invocation = invocation;
  run.dataset.name = dataset;
  const RowId id = begin(store, run, 4);
  measure(store, id, 0, keys(0, 2), 1000);
  store.finish_run(id, RunStatus::done);
  return id;
}

std::map<std::string, std::int64_t> counts(Store& store) {
  std::map<std::string, std::int64_t> out;
  for (const char* table :
       {"run", "block", "job", "step_histogram", "generation", "score", "sample", "dataset",
        "model", "environment", "process", "experiment", "invocation"})
    out[table] = store.database().integer(str("SELECT count(*) FROM ", table));
  return out;
}

std::string error_of(auto&& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an invocation is found by its name, or by the beginning of its id or of a run's id") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = measured_run(store, "aaaa-1", "ar");
  measured_run(store, "aabb-2", "ar");
  CHECK(find_invocation(store, "") == "aabb-2");
  CHECK(find_invocation(store, "latest") == "aabb-2");
  CHECK(find_invocation(store, "aaa") == "aaaa-1");
  const std::string uuid = store.find_runs({.invocation = "aaaa-1"}).front().uuid;
  CHECK(store.find_runs({.invocation = "aaaa-1"}).front().id == run);
  CHECK(find_invocation(store, uuid) == "aaaa-1");
  CHECK(error_of([&] { find_invocation(store, "aa"); }).find("2 invocations") != std::string::npos);
  CHECK(error_of([&] { find_invocation(store, "zz"); }).find("'zz'") != std::string::npos);

  // A name that begins another run's id would be taken for that run, also by rm.
  for (const std::string& taken : {std::string("aaa"), std::string("a"), uuid, uuid.substr(0, 5)})
    CHECK_THAT(error_of([&] { name_invocation(store, "aabb-2", taken); }),
               Catch::Contains("begins the id of invocation aaaa-1"));
  name_invocation(store, "aabb-2", "aab");  // its own
  name_invocation(store, "aabb-2", "cc");
  CHECK(find_invocation(store, "cc") == "aabb-2");
  CHECK(error_of([&] { name_invocation(store, "aaaa-1", "cc"); }).find("already") !=
        std::string::npos);
  measured_run(store, "ccdd-3", "ar");  // later, by chance, or by merge
  CHECK_THAT(error_of([&] { find_invocation(store, "cc"); }),
             Catch::Contains("the name of invocation aabb-2") && Catch::Contains("ccdd-3"));
  CHECK(find_invocation(store, "ccd") == "ccdd-3");
  remove_invocation(store, "ccdd-3");
  note_invocation(store, "aabb-2", "busy");
  name_invocation(store, "aabb-2", "");
  const auto labels = invocation_labels(store);
  REQUIRE(labels.size() == 1);
  CHECK(labels.at("aabb-2").name.empty());
  CHECK(labels.at("aabb-2").note == "busy");
  CHECK(find_invocation(store, "aaa") == "aaaa-1");
}

TEST_CASE("removing an invocation leaves what others refer to, and nothing else") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  measured_run(store, "first", "ar");
  const auto before = counts(store);
  measured_run(store, "second", "ar");
  RunRow other = example_run("hpd");  // another network, machine and experiment
  other.invocation = "second";
  other.model.hash = "m9";
  other.draft.reset();
  other.environment = {{"cpu", "two"}};
  other.experiment->name = "table-2";
  other.dataset.name = "ae-110k";
  measure(store, begin(store, other, 4), 0, keys(0, 2), 1000, "p-2");
  store.put_process("p-2", "b", {{"cpu", "three"}});
  note_invocation(store, "second", "to go");
  remove_invocation(store, "second");
  auto after = counts(store);
  // The two unanswered samples of the first run's dataset are removed, too.
  CHECK(after.at("sample") == 2);
  after["sample"] = before.at("sample");
  CHECK(after == before);
  CHECK(store.database().integer("SELECT count(*) FROM pragma_foreign_key_check") == 0);

  remove_invocation(store, "first");
  for (const auto& [table, count] : counts(store)) {
    CAPTURE(table);
    CHECK(count == 0);
  }
}

TEST_CASE("samples that a run is about to answer stay when another run is removed") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  RunRow going = example_run("ar");
  going.invocation = "going";
  begin(store, going, 4);
  measured_run(store, "done", "hpd");
  remove_invocation(store, "done");
  CHECK(counts(store).at("sample") == 4);
}

TEST_CASE(
    "machines that differ are described by the differences, except for the current clock rate") {
  RunRow a = example_run("ar"), b = a;
  a.environment = {{"processor", "one"}, {"cores", 2}, {"mhz", "2100"}};
  b.environment = {{"processor", "two"}, {"cores", 2}, {"mhz", "2400"}, {"governor", "powersave"}};
  CHECK(machine_differences(a.environment, b.environment) ==
        std::vector<std::string>{"processor: one, now two", "governor: unset, now powersave"});
  CHECK(machine_differences(a.environment, a.environment).empty());
  a.environment[kDeviceMemory] = 7;
  CHECK(machine_differences(a.environment, b.environment).size() == 2);
}
