#include "src/store/store.hpp"

#include <cmath>
#include <limits>

#include "src/support/error.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

TEST_CASE("the description of a run is read back") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RunRow run = example_run();
  const RowId id = store.begin_run(run);
  const std::vector<RunRow> found = store.find_runs({.uuid = run.uuid.substr(0, 8)});
  REQUIRE(found.size() == 1);
  const RunRow& back = found[0];
  CHECK(back.id == id);
  CHECK(differences(run, back).empty());
  CHECK(back.uuid == run.uuid);
  CHECK(back.seed == run.seed);
  CHECK(back.options == run.options);
  CHECK(back.config == run.config);
  CHECK(back.config_hash.size() == 64);
  CHECK(back.argv == run.argv);
  CHECK(back.environment == run.environment);
  CHECK(back.experiment->json == run.experiment->json);
  CHECK(back.draft->shape == run.draft->shape);
  CHECK(back.model.stamp == run.model.stamp);
  CHECK(back.dataset.sample);
  CHECK(back.baseline == run.baseline);
  CHECK(back.status == RunStatus::running);
  CHECK(back.started_utc.size() == 24);
  CHECK(!back.ended_utc);
  CHECK(store.model_hash("/models/a", "7:1") == std::optional<std::string>("m1"));
  CHECK(!store.model_hash("/models/a", "7:2"));
}

TEST_CASE("a run without experiment, draft and baseline is read back without them") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  RunRow run = example_run("ar");
  run.experiment.reset();
  run.draft.reset();
  store.begin_run(run);
  const RunRow back = store.find_runs({}).at(0);
  CHECK(!back.experiment);
  CHECK(!back.draft);
  CHECK(!back.baseline);
  CHECK(!back.oracle);
  CHECK(back.dtype == "bf16");
}

TEST_CASE("runs are found by what is asked, the latest first") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId ar = store.begin_run(example_run("ar")), hpd = store.begin_run(example_run());
  const RowId again = store.begin_run(example_run());
  store.finish_run(hpd, RunStatus::done);
  const auto ids = [&](const RunFilter& filter) {
    std::vector<RowId> out;
    for (const RunRow& run : store.find_runs(filter)) out.push_back(run.id);
    return out;
  };
  CHECK(ids({}) == std::vector{again, hpd, ar});
  CHECK(ids({.label = "hpd"}) == std::vector{again, hpd});
  CHECK(ids({.label = "hpd", .status = RunStatus::running}) == std::vector{again});
  CHECK(ids({.dataset = "oa-mine", .split = "test", .status = RunStatus::done}) ==
        std::vector{hpd});
  CHECK(ids({.invocation = "other"}).empty());
  CHECK(store.find_runs({.status = RunStatus::done}).at(0).ended_utc.has_value());
}

TEST_CASE("a job is read back as it was committed") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  Stack given = stack(run, keys(0, 2));
  given.generations[1].identity = Identity{false, 3, 0.25};
  given.generations[1].error = "not JSON";
  given.generations[1].scores[0].details = {{"VC", 1}};
  CHECK(commit(store, given) == Committed::inserted);
  const std::vector<JobRow> jobs = store.jobs(run);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].tokens == given.job.tokens);
  CHECK(to_json(jobs[0].counters) == to_json(given.job.counters));
  CHECK(jobs[0].unforced == given.job.unforced);
  CHECK(jobs[0].top2.is_null());
  CHECK(!jobs[0].error);
  const std::vector<StoredGeneration> back = store.generations(run);
  REQUIRE(back.size() == 2);
  CHECK(back[0].row.sample == "test-0");
  CHECK(back[0].row.text == "text of test-0");
  CHECK(!back[0].row.error);
  CHECK(!back[0].row.identity);
  CHECK(back[0].job == JobKey{"test-0", "test-1"});
  CHECK(back[0].cluster == "cluster-test-0");
  CHECK(back[0].row.fields.at(0).text == "Lavazza");
  CHECK(back[0].row.fields.at(0).tokens == Tokens{4});
  CHECK(back[1].row.error == std::optional<std::string>("not JSON"));
  REQUIRE(back[1].row.identity);
  CHECK(!back[1].row.identity->identical);
  CHECK(back[1].row.identity->first_difference == std::optional<std::int64_t>(3));
  CHECK(back[1].row.identity->gap == std::optional<double>(0.25));
  CHECK(back[1].row.scores.at(0).details == Json{{"VC", 1}});
}

TEST_CASE("everything that is put twice is stored once") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RunRow row = example_run();
  const RowId run = begin(store, row);
  const Stack job = stack(run, keys(0, 6));
  CHECK(commit(store, job) == Committed::inserted);
  store.finish_run(run, RunStatus::failed);
  CHECK(begin(store, row) == run);
  CHECK(store.find_runs({}).at(0).status == RunStatus::running);
  CHECK(!store.find_runs({}).at(0).ended_utc);
  Stack other = job;
  other.generations[0].text = "something else";
  CHECK(commit(store, other) == Committed::kept);
  CHECK(store.generations(run).at(0).row.text == "text of test-0");
  CHECK(store.jobs(run).at(0).attempts == 1);
  Database& db = store.database();
  for (const auto& [table, count] : {std::pair{"run", 1},
                                     {"experiment", 1},
                                     {"environment", 1},
                                     {"model", 2},
                                     {"dataset", 1},
                                     {"sample", 24},
                                     {"job", 1},
                                     {"generation", 6},
                                     {"score", 6},
                                     {"step_histogram", 2}}) {
    CAPTURE(table);
    CHECK(db.integer(str("SELECT count(*) FROM ", table)) == count);
  }
  Stack second = job;  // the next repeat is a job of its own
  second.job.repeat = 1;
  CHECK(commit(store, second) == Committed::inserted);
  CHECK(store.finished_jobs(run).size() == 2);
}

TEST_CASE("counters belong to the job: a stack of six counts once") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  REQUIRE(measure(store, run, 0, keys(0, 6), 5000));
  REQUIRE(measure(store, run, 1, keys(6, 6), 7000));
  BlockRow partial;
  partial.run = run;
  partial.position = 2;
  partial.samples = keys(12, 6);
  commit(store,
         stack(run, keys(12, 3), store.begin_block(partial)));  // counts, but was not measured
  const RunSummary summary = store.summaries({}).at(0);
  CHECK(summary.jobs == 3);
  CHECK(summary.generations == 15);
  CHECK(summary.failed_jobs == 0);
  CHECK(summary.totals.chosen == 30);
  CHECK(summary.totals.forwards == 12);
  CHECK(summary.totals.prompt == 300);
  CHECK(summary.totals.cached_peak == 114);
  CHECK(summary.totals.parallel_ratio() == 2.5);
  CHECK(summary.totals.emitted == std::map<std::int64_t, std::int64_t>{{1, 3}, {3, 9}});
  CHECK(summary.blocks == 3);
  CHECK(summary.measured_blocks == 2);
  CHECK(summary.measured_wall_ns == 12000);
  CHECK(summary.measured_examples == 12);
  CHECK(summary.measured_fields == 12);
  CHECK(summary.measured_chosen == 20);
  CHECK(summary.measured_text_tokens == 16);
  CHECK(store.database().integer(
            "SELECT examples_per_second = 1e9 * 12 / 12000 FROM run_summary") == 1);
}

TEST_CASE("old errors stay until a retry is better") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  const Stack good = stack(run, keys(0, 6));
  CHECK(commit(store, failed(good, "out of memory")) == Committed::inserted);
  for (const StoredGeneration& generation : store.generations(run))
    CHECK(generation.row.error == "out of memory");
  REQUIRE(store.finished_jobs(run).size() == 1);
  CHECK(store.finished_jobs(run)[0].failed);
  CHECK(store.summaries({}).at(0).failed_jobs == 1);
  CHECK(store.summaries({}).at(0).totals.chosen == 0);
  CHECK(store.summaries({}).at(0).totals.emitted.empty());

  CHECK(commit(store, failed(good, "again")) == Committed::kept);
  CHECK(store.jobs(run).at(0).error == std::optional<std::string>("out of memory"));
  CHECK(store.jobs(run).at(0).attempts == 2);

  Stack half = good;  // done, one answer unreadable
  half.generations[2].error = "not JSON";
  CHECK(commit(store, half) == Committed::replaced);
  CHECK(store.finished_jobs(run)[0].failed);
  CHECK(store.summaries({}).at(0).failed_generations == 1);
  CHECK(commit(store, failed(good, "again")) == Committed::kept);
  CHECK(store.generations(run).at(0).row.text == "text of test-0");

  CHECK(commit(store, good) == Committed::replaced);
  CHECK(store.jobs(run).at(0).attempts == 5);
  CHECK(!store.finished_jobs(run)[0].failed);
  CHECK(store.generations(run).size() == 6);
  CHECK(store.database().integer("SELECT count(*) FROM score") == 6);
  CHECK(commit(store, failed(good, "late")) == Committed::kept);
  CHECK(!store.jobs(run).at(0).error);
}

TEST_CASE("a commit that cannot be finished leaves nothing") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  Stack job = stack(run, keys(0, 6));
  job.generations[5].sample = "unknown";
  CHECK_THROWS_WITH(commit(store, job), Catch::Contains("no sample 'unknown'"));
  for (const char* table : {"job", "generation", "score", "step_histogram"}) {
    CHECK(store.database().integer(str("SELECT count(*) FROM ", table)) == 0);
  }
  commit(store, stack(run, keys(0, 6)));
  CHECK_THROWS_WITH(commit(store, stack(run, keys(5, 2))),
                    Catch::Contains("UNIQUE"));  // test-5 in two stacks
  CHECK(store.jobs(run).size() == 1);
}

TEST_CASE("NaN is a separate value, infinity a number") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  Stack job = stack(run, keys(0, 3));
  job.generations[0].scores = {{"rouge", std::nan("")}};
  job.generations[1].scores = {{"rouge", 0.5}};
  job.generations[2].scores = {{"other", std::numeric_limits<double>::infinity()}};
  commit(store, job);
  Database& db = store.database();
  CHECK(db.integer("SELECT count(*) FROM score WHERE value IS NULL AND is_nan = 1") == 1);
  CHECK(std::isnan(store.generations(run).at(0).row.scores.at(0).value));
  CHECK(std::isinf(store.generations(run).at(2).row.scores.at(0).value));
  const std::vector<ScoreMean> means = store.score_means(run);
  REQUIRE(means.size() == 2);
  CHECK(means[1].metric == "rouge");
  CHECK(means[1].mean == 0.5);
  CHECK(means[1].count == 1);
  CHECK(means[1].not_a_number == 1);
}

TEST_CASE("scores are replaced, not stored twice") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  commit(store, stack(run, keys(0, 1)));
  const RowId generation = store.generations(run).at(0).row.id;
  store.put_scores(std::vector<AnswerScores>{
      {generation, {{"exact_match", 0.0}, {"exact_match", 1.0, "Brand"}}}});
  const auto scores = store.generations(run).at(0).row.scores;
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].value == 0.0);
  CHECK(scores[1].field == "Brand");
}

TEST_CASE("scores of several answers become current at once") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  Store store(file), reader(file);
  const RowId run = begin(store, example_run());
  commit(store, stack(run, keys(0, 6)));
  const auto values = [&] {
    std::vector<double> out;
    for (const auto& answer : reader.generations(run))
      for (const ScoreRow& score : answer.row.scores) out.push_back(score.value);
    return out;
  };
  std::vector<AnswerScores> scores;
  for (const auto& answer : store.generations(run))
    scores.push_back({answer.row.id, {{"exact_match", 0.5}}});
  // If one cannot be stored, none is.
  auto wrong = scores;
  wrong.push_back({999, {{"exact_match", 0.5}}});
  CHECK_THROWS_AS(store.put_scores(wrong), StoreError);
  CHECK(values() == std::vector<double>(6, 1.0));
  store.put_scores(scores);
  CHECK(values() == std::vector<double>(6, 0.5));
  const auto replaced = [&](std::optional<std::vector<AnswerScores>> by) {
    store.replace_scores("exact_match", std::vector{run}, [&] {
      CHECK(values() == std::vector<double>(6, 0.5));  // the earlier ones are complete
      return by;
    });
  };
  replaced(std::nullopt);
  CHECK_THROWS_AS(replaced(wrong), StoreError);
  CHECK(values() == std::vector<double>(6, 0.5));
  scores.pop_back();
  for (AnswerScores& one : scores) one.scores.front().value = 0.25;
  replaced(scores);
  CHECK(values() == std::vector<double>(5, 0.25));
}

TEST_CASE("invalid UTF-8 in text is repaired; the ids are the record") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  Stack job = stack(run, keys(0, 1));
  job.job.text = "\xC3";
  job.generations[0].text = "caf\xE9 \xE2\x96 ok";
  job.generations[0].fields[0].text = "\xFF";
  job.generations[0].tokens = {200, 100000, 3};
  job.generations[0].error = std::string("a\0b", 3);
  commit(store, job);
  const GenerationRow back = store.generations(run).at(0).row;
  CHECK(back.text == "caf\uFFFD \uFFFD ok");
  CHECK(back.fields.at(0).text == "\uFFFD");
  CHECK(back.tokens == Tokens{200, 100000, 3});
  CHECK(back.error == std::string("a\0b", 3));
  CHECK(store.jobs(run).at(0).text == "\uFFFD");
}

TEST_CASE("a refused resume can say what differs") {
  const RunRow old = example_run();
  RunRow now = old;
  now.uuid = "other";
  now.started_utc = "2030-01-01T00:00:00.000Z";
  now.argv = {};
  now.model.path = "/elsewhere/a";
  CHECK(differences(old, now).empty());
  now.config["hpd"]["stack"] = 3;
  now.config["limit"] = nullptr;
  now.config["new"] = "x";
  now.options.erase("k_max");
  now.model.hash = "m9";
  now.dataset.sha256 = "d9";
  now.prompt_hash = "p9";
  now.commit = "def";
  CHECK(differences(old, now) ==
        std::vector<std::string>{"commit: abc, now def", "dataset hash: d1, now d9",
                                 "hpd.k_max: 30, now unset", "hpd.stack: 6, now 3",
                                 "limit: 12, now null", "model hash: m1, now m9",
                                 "new: unset, now x", "prompt hash: p1, now p9"});
  RunRow hashed = old, again = old;
  hashed.config_hash = "1";
  again.config_hash = "2";
  CHECK(differences(hashed, again) == std::vector<std::string>{"config hash: 1, now 2"});
}

TEST_CASE("uuids and dates have their form") {
  const std::string uuid = make_uuid();
  REQUIRE(uuid.size() == 36);
  CHECK(uuid[14] == '4');
  CHECK(std::string("89ab").find(uuid[19]) != std::string::npos);
  CHECK(uuid != make_uuid());
  const std::string now = utc_now();
  CHECK(now.size() == 24);
  CHECK(now[10] == 'T');
  CHECK(now.back() == 'Z');
}

TEST_CASE("a stand-in of a split is another dataset than the split, whatever its name") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  RunRow published = example_run("ar"), made = published;
  made.uuid = make_uuid();
  published.dataset.sample = made.dataset.sample = false;
  made.dataset.standin = true;
  const RowId run = begin(store, published), other = begin(store, made);
  CHECK(store.dataset_of(run) != store.dataset_of(other));
  const auto found = store.find_runs({.dataset = "oa-mine", .split = "test", .standin = true});
  REQUIRE(found.size() == 1);
  CHECK(found[0].uuid == made.uuid);
  CHECK(found[0].dataset.standin);
  CHECK(found[0].dataset.split == "test");
  CHECK(found[0].dataset.split_text() == "test, stand-in");
  CHECK_FALSE(same_split(found[0].dataset, published.dataset));
  CHECK(store.find_runs({.dataset = "oa-mine", .split = "test"}).size() == 2);
}

TEST_CASE("the device memory of a run is the most that one of its processes held") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RunRow run = example_run("ar");
  store.begin_run(run);
  const auto held = [&] {
    return store.find_runs({.invocation = run.invocation}).front().environment;
  };
  store.note_device_memory(run.invocation, 5'000'000'000);
  CHECK(held().at(kDeviceMemory) == 5'000'000'000);
  CHECK(held().at("cpu") == "one");  // what was known before stays
  store.note_device_memory(run.invocation, 4'000'000'000);
  CHECK(held().at(kDeviceMemory) == 5'000'000'000);
}
