// Two states of one run are merged to the later one, whichever file is merged first.
#include <filesystem>

#include "src/store/invocations.hpp"
#include "src/store/judgments.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;
namespace fs = std::filesystem;

namespace {

/// Everything in a database, without its ids.
std::vector<std::string> content(Store& store) {
  std::vector<std::string> out;
  for (const char* sql :
       {"SELECT uuid, status, ended_utc FROM run", "SELECT path, hash, stamp, shape FROM model",
        "SELECT uuid, position, process, wall_ns, cpu_ns FROM block JOIN run ON run.id = run_id",
        "SELECT uuid, key, attempts, job.error, job.text FROM job JOIN run ON run.id = run_id",
        "SELECT uuid, key, generation.text, error, identical FROM generation JOIN run ON run.id = "
        "run_id JOIN "
        "sample ON sample.id = sample_id",
        "SELECT uuid, key, metric, value FROM score JOIN generation ON generation.id = "
        "generation_id JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id",
        "SELECT uuid, name, note FROM invocation",
        "SELECT process, call_key, number, cost, outcome_unknown, error FROM judge_attempt",
        "SELECT process, call_key, text FROM judge_reply",
        "SELECT key, judgment.field, vote, judgment.state, value, judgment.reason, call_key FROM "
        "judgment JOIN "
        "generation ON generation.id = generation_id JOIN sample ON sample.id = sample_id LEFT "
        "JOIN judge_reply ON judge_reply.id = reply_id",
        "SELECT wall_ns FROM block_repair"}) {
    Statement find(store.database(), sql);
    while (find.step()) {
      std::string row;
      for (int c = 0; c < find.columns(); ++c) row += find.null(c) ? "- | " : find.text(c) + " | ";
      out.push_back(row);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("merging keeps the later state of a run, in either order of the files") {
  TemporaryFolder folder;
  const fs::path early = folder.path() / "early.sqlite", late = folder.path() / "late.sqlite";
  RowId baseline = 0, run = 0, judge = 0, protocol = 0;
  const auto vote = [&](Store& store, size_t answer, VoteRow said, const std::string& key) {
    const RowId generation = store.generations(run).at(answer).row.id;
    put_votes(store, judge,
              {.process = "p",
               .call_key = key,
               .end = ReplyEnd::answered,
               .text = std::string(name(said.state))},
              {{generation, 0, true, judge, protocol, std::move(said)}});
  };
  AttemptRow attempt{.process = "p", .call_key = "k1", .cost = 2, .outcome_unknown = true};
  {
    Store store(early);
    baseline = begin(store, example_run("ar"));
    run = begin(store, example_run());
    CHECK(measure(store, baseline, 0, keys(0, 2), 1000));
    BlockRow block{.run = run, .samples = keys(0, 2), .arm_order = {"ar", "hpd"}};
    commit(store, failed(stack(run, keys(0, 2), store.begin_block(block)), "it broke"));
    commit(store, stack(run, keys(2, 2)));
    judge = put_judge(store, {"m", {{"model", "m"}}});
    protocol = put_protocol(store, {"single", {{"schema", 1}}});
    put_attempt(store, judge, attempt);
    vote(store, 2, {.state = VoteState::unscored, .reason = "cut short"}, "k2");
    vote(store, 3, {.state = VoteState::error, .reason = "nobody answered"}, "k3");
    note_invocation(store, "invocation-1", "");
  }
  fs::copy_file(early, late);
  {
    Store store(late);
    commit(store, stack(run, keys(0, 2), 2));  // a successful retry
    CHECK(store.finish_block(1, "p-2", 900));
    CHECK(store.finish_block(2, "p-2", 500));
    commit(store, stack(run, keys(4, 2)));
    std::vector<std::pair<RowId, Identity>> same;
    for (const auto& answer : store.generations(run)) same.push_back({answer.row.id, {true}});
    store.mark_identities(same);
    attempt.outcome_unknown = false;
    attempt.cost = 0.5;
    put_attempt(store, judge, attempt);
    vote(store, 0, {.state = VoteState::scored, .label = "", .value = 7}, "k4");
    vote(store, 1, {.state = VoteState::unscored, .reason = "no verdict"}, "k5");
    name_invocation(store, "invocation-1", "stack 2");
    note_invocation(store, "invocation-1", "quiet machine");
    store.put_model({"/models/a", "m1", "8:2", {{"layers", 2}, {"tokenizer", "t"}}});
    store.finish_run(baseline, RunStatus::done);
    store.finish_run(run, RunStatus::done);
  }
  std::vector<std::string> wanted;
  {
    Store store(late);
    wanted = content(store);
  }
  for (const auto& order : {std::vector{early, late}, {late, early}, {early, late, early}}) {
    const fs::path into = folder.path() / "all.sqlite";
    {
      Store all(into);
      for (const fs::path& file : order) CHECK(all.merge(file).empty());
      CHECK(content(all) == wanted);
    }
    fs::remove(into);
  }
}

TEST_CASE("merging keeps the machine of each process") {
  TemporaryFolder folder;
  const auto made = [&](const char* file, int position, const char* process, const char* host) {
    const fs::path path = folder.path() / file;
    Store store(path);
    RunRow row = example_run();
    row.uuid = "one";
    const RowId run = begin(store, row);
    store.put_process(process, host, {{"processor", str("of ", host)}, {"mhz", process}});
    measure(store, run, position, keys(2 * position, 2), 1000, process);
    return path;
  };
  const fs::path first = made("1.sqlite", 0, "p-1", "a");
  Store store(made("2.sqlite", 1, "p-2", "b"));
  const RunRow run = store.find_runs({}).front();
  CHECK(store.machines(run.invocation).size() == 1);
  for (int times = 0; times < 2; ++times) {
    store.merge(first);
    const auto machines = store.machines(run.invocation);
    REQUIRE(machines.size() == 2);
    CHECK(machines[0].host == "a");
    CHECK(machines[0].environment == Json{{"processor", "of a"}, {"mhz", "p-1"}});
    CHECK(machines[1].host == "b");
    CHECK(machines[1].blocks == 1);
    CHECK(machines[1].processes == 1);
  }
  CHECK(store.machines("another").empty());
  // only the runs of one invocation
  Store part(folder.path() / "part.sqlite");
  part.merge(first, "another");
  CHECK(part.find_runs({}).empty());
  part.merge(first, run.invocation);
  CHECK(part.find_runs({}).size() == 1);
  CHECK(part.machines(run.invocation).size() == 1);
}

TEST_CASE("the newest run is the one that began last, not the one that was merged last") {
  TemporaryFolder folder;
  for (const char* year : {"2024", "2025"}) {
    Store store(folder.path() / str(year, ".sqlite"));
    RunRow run = example_run("ar");
    run.invocation = year;
    run.started_utc = str(year, "-01-31T00:00:00.000Z");
    begin(store, run);
  }
  Store all(folder.path() / "all.sqlite");
  for (const char* year : {"2025", "2024"}) all.merge(folder.path() / str(year, ".sqlite"));
  CHECK(latest_invocation(all) == "2025");
}

TEST_CASE("no name is lost when runs are merged") {
  TemporaryFolder folder;
  const auto make = [&](const std::string& file, const std::string& invocation,
                        const std::string& name, const std::string& note) {
    Store store(folder.path() / file);
    RunRow run = example_run("ar");
    run.invocation = invocation;
    begin(store, run);
    if (!name.empty()) name_invocation(store, invocation, name);
    if (!note.empty()) note_invocation(store, invocation, note);
  };
  make("a", "aaaa", "stack 2", "");
  make("b", "bbbb", "stack 2", "its note");
  make("c", "cccc", "stack 2", "");
  fs::copy_file(folder.path() / "a", folder.path() / "a2");
  {
    Store store(folder.path() / "a2");
    name_invocation(store, "aaaa", "");
    note_invocation(store, "aaaa", "busy");
  }
  Store all(folder.path() / "all");
  CHECK(all.merge(folder.path() / "a2").empty());
  CHECK(all.merge(folder.path() / "a").empty());
  const auto said = all.merge(folder.path() / "b");
  REQUIRE(said.size() == 1);
  CHECK_THAT(said.front(), Catch::Contains("bbbb is named 'stack 2 (2)'"));
  CHECK(all.merge(folder.path() / "c").size() == 1);
  for (const char* file : {"a", "b", "c", "a2"}) CHECK(all.merge(folder.path() / file).empty());
  const auto labels = invocation_labels(all);
  CHECK(labels.at("aaaa").name == "stack 2");
  CHECK(labels.at("aaaa").note == "busy");
  CHECK(labels.at("bbbb").name == "stack 2 (2)");
  CHECK(labels.at("bbbb").note == "its note");
  CHECK(labels.at("cccc").name == "stack 2 (3)");
}
