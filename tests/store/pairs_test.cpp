// Blocks, pairs of two arms, and merging.
#include <cmath>

#include "src/store/judgments.hpp"
#include "src/support/error.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

RowId block_of(Store& store, RowId run, int position, const std::vector<std::string>& samples) {
  BlockRow block;
  block.run = run;
  block.position = position;
  block.samples = samples;
  return store.begin_block(block);
}

}  // namespace

TEST_CASE("a block's time is stored when all its jobs are stored, and the last pass counts") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  const RowId whole = block_of(store, run, 0, keys(0, 4));
  CHECK(block_of(store, run, 0, keys(0, 4)) == whole);
  CHECK_THROWS_WITH(block_of(store, run, 0, keys(1, 4)), Catch::Contains("other examples"));
  commit(store, stack(run, keys(0, 2), whole));
  CHECK(!store.finish_block(whole, "p-1", 100));  // two examples are missing
  commit(store, stack(run, keys(2, 2), whole));
  CHECK(store.finish_block(whole, "p-1", 200));
  store.repair_block(whole, "p-1", 190, {});
  CHECK(store.finish_block(whole, "p-2", 210));  // a new time removes its repair
  CHECK(store.database().integer("SELECT wall_ns FROM block WHERE id = ? AND process = 'p-2'",
                                 whole) == 210);
  CHECK(store.database().integer("SELECT count(*) FROM block_repair") == 0);
  CHECK(store.answer_ids(run, 0, keys(0, 1)[0]) == stack(run, keys(0, 2)).generations[0].tokens);
  CHECK(!store.answer_ids(run, 1, keys(0, 1)[0]));
  CHECK(!store.answer_ids(run, 0, "nobody"));

  const RowId resumed = block_of(store, run, 1, keys(4, 4));
  commit(store, stack(run, keys(4, 2), resumed, "killed"));
  commit(store, stack(run, keys(6, 2), resumed, "p-2"));
  CHECK(store.finish_block(resumed, "p-2", 100));  // it did the first jobs once more

  const RowId broken = block_of(store, run, 2, keys(8, 2));
  commit(store, failed(stack(run, keys(8, 2), broken), "boom"));
  CHECK(!store.finish_block(broken, "p-1", 100));
  commit(store, stack(run, keys(8, 2), broken));
  CHECK(store.finish_block(broken, "p-1", 100));  // a pass without a failed job
}

TEST_CASE("replacing a job removes the block's time and others' comparison with it") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId ar = begin(store, example_run("ar")), hpd = begin(store, example_run());
  const RowId block = block_of(store, ar, 0, keys(0, 2));
  Stack half = stack(ar, keys(0, 2), block);
  half.generations[0].error = "cut off";
  commit(store, half);
  CHECK(store.finish_block(block, "p-1", 100));
  Stack method = stack(hpd, keys(0, 3));
  for (GenerationRow& generation : method.generations) generation.identity = Identity{true, {}, {}};
  commit(store, method);
  CHECK(store.summaries({.label = "hpd"}).at(0).identical == 3);

  CHECK(commit(store, stack(ar, keys(0, 2), block)) == Committed::replaced);
  CHECK(store.database().integer("SELECT wall_ns IS NULL FROM block WHERE id = ?", block) == 1);
  CHECK(store.summaries({.label = "hpd"}).at(0).compared == 1);  // test-2 is not in that job
  store.mark_identities(
      std::vector{std::pair(store.generations(hpd).at(0).row.id, Identity{false, 7, {}})});
  CHECK(store.summaries({.label = "hpd"}).at(0).compared == 2);
  CHECK(store.summaries({.label = "hpd"}).at(0).identical == 1);
}

TEST_CASE("block pairs are complete, of one process, and of the same examples") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId ar = begin(store, example_run("ar")), hpd = begin(store, example_run());
  CHECK(block_key(keys(0, 4)) != block_key(keys(0, 3)));
  CHECK(block_key({"a", "b"}) != block_key({"b", "a"}));
  CHECK(block_key({"a,b"}) != block_key({"a", "b"}));
  measure(store, ar, 0, keys(0, 4), 4000);
  measure(store, hpd, 0, keys(0, 4), 1000);
  measure(store, ar, 1, keys(4, 4), 6000);
  measure(store, hpd, 1, keys(4, 4), 4000);
  measure(store, ar, 2, keys(8, 4), 9000, "p-1");
  measure(store, hpd, 2, keys(8, 4), 1000, "p-2");  // another process
  measure(store, ar, 3, keys(12, 4), 9000);
  measure(store, hpd, 3, keys(12, 3), 1000);  // other examples
  measure(store, ar, 4, keys(16, 4), 9000);   // no partner
  const auto pairs = block_pairs(store, ar, hpd);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].key_text == block_key(keys(0, 4)));
  CHECK(pairs[0].examples == 4);
  CHECK(pairs[0].baseline.wall_ns == 4000);
  CHECK(pairs[0].method.wall_ns == 1000);
  CHECK(pairs[1].baseline.wall_ns == 6000);
  Database& db = store.database();
  CHECK(db.integer("SELECT count(*) FROM speedup_pairs WHERE arm = 'hpd' AND baseline = 'ar'") ==
        2);
  CHECK(db.integer("SELECT speedup = 4.0 FROM speedup_pairs ORDER BY block_key = ? DESC",
                   block_key(keys(0, 4))) == 1);
  CHECK(db.integer("SELECT speedup = 2.0 AND blocks = 2 FROM paper_table WHERE arm = 'hpd'") == 1);
}

TEST_CASE("scores and answers are paired by sample and repeat") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId ar = begin(store, example_run("ar")), hpd = begin(store, example_run());
  Stack base = stack(ar, keys(0, 3)), method = stack(hpd, keys(1, 3));
  method.generations[0].scores = {{"exact_match", 0.0}, {"exact_match", 1.0, "Brand"}};
  method.generations[1].scores = {{"exact_match", std::nan("")}};
  method.generations[1].tokens = {4, 6};
  commit(store, base);
  commit(store, method);
  method.job.repeat = 1;  // no partner
  commit(store, method);
  const auto scores = store.score_pairs(ar, hpd, "exact_match");
  REQUIRE(scores.size() == 2);
  CHECK(scores[0].sample == "test-1");
  CHECK(scores[0].cluster == "cluster-test-1");
  CHECK(scores[0].category == "Coffee");
  CHECK(scores[0].baseline == 1.0);
  CHECK(scores[0].method == 0.0);
  CHECK(std::isnan(scores[1].method));
  CHECK(store.score_pairs(ar, hpd, "rouge").empty());
  CHECK(store.database().integer(
            "SELECT count(*) FROM quality_pairs WHERE sample = 'test-1' AND method_value = 0") ==
        1);
  const auto answers = store.generation_pairs(ar, hpd);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].sample == "test-1");
  CHECK(answers[0].method_text == "text of test-1");
  CHECK(answers[1].baseline_tokens == Tokens{4, 5});
  CHECK(answers[1].method_tokens == Tokens{4, 6});
  CHECK(store.database().integer(
            "SELECT parts = 4 AND not_a_number = 2 FROM paper_table WHERE arm = 'hpd'") == 0);
  CHECK(store.database().integer("SELECT parts = 8 AND not_a_number = 2 AND score IS NULL FROM "
                                 "paper_table WHERE arm = 'hpd'") == 1);
}

TEST_CASE("merging joins the shards, and merging twice changes nothing") {
  TemporaryFolder folder;
  const RunRow shared = example_run(), own = example_run("ar");
  {
    Store first(folder.path() / "0.sqlite");
    const RowId run = begin(first, shared);
    measure(first, run, 0, keys(0, 4), 100, "p-0");
    commit(first, failed(stack(run, keys(8, 2)), "out of memory"));
  }
  {
    Store second(folder.path() / "1.sqlite");
    const RowId other = begin(second, own, 3);  // ids that differ from those of the first file
    commit(second, stack(other, keys(0, 3)));
    const RowId run = begin(second, shared);
    measure(second, run, 1, keys(4, 4), 200, "p-1");
    Stack good = stack(run, keys(8, 2));
    good.generations[0].scores.push_back({"rouge", 0.25});
    commit(second, good);
    const RowId judge = put_judge(second, {"m", {{"model", "m"}}}),
                protocol = put_protocol(second, {"single", {{"schema", 1}}});
    const auto generations = second.generations(run);
    put_attempt(second, judge, {.process = "p", .call_key = "k", .cost = 0.5});
    put_votes(
        second, judge,
        {.process = "p", .call_key = "k", .end = ReplyEnd::answered, .text = "{}", .cost = 0.5},
        {{generations.at(0).row.id,
          0,
          true,
          judge,
          protocol,
          {"", 0, VoteState::unscored, "", std::nullopt, "no verdict"}},
         {generations.at(0).row.id,
          generations.at(1).row.id,
          false,
          judge,
          protocol,
          {"", 0, VoteState::scored, "tie", std::nullopt, ""}}});
  }
  Store store(folder.path() / "all.sqlite");
  const auto count = [&](const char* table) {
    return store.database().integer(str("SELECT count(*) FROM ", table));
  };
  for (int round = 0; round < 2; ++round) {
    store.merge(folder.path() / "0.sqlite");
    store.merge(folder.path() / "1.sqlite");
    CHECK(count("run") == 2);
    CHECK(count("sample") == 24);
    CHECK(count("block") == 2);
    CHECK(count("job") == 4);
    CHECK(count("generation") == 13);
    CHECK(count("score") == 14);
    CHECK(count("step_histogram") == 8);
    for (const char* table :
         {"judge", "protocol", "judge_attempt", "judge_reply", "judgment", "comparison"})
      CHECK(count(table) == 1);
    CHECK(count("model") == 2);
  }
  const RunSummary summary = store.summaries({.label = "hpd"}).at(0);
  CHECK(summary.failed_jobs == 0);  // the good job of the second file replaced the failed one
  CHECK(summary.measured_wall_ns == 300);
  CHECK(summary.totals.chosen == 30);
  CHECK(differences(shared, summary.run).empty());
  const auto votes = judgments(store, summary.run.id);
  REQUIRE(votes.size() == 2);
  CHECK(votes[0].vote.reason == "no verdict");
  CHECK(votes[1].vote.label == "tie");
  CHECK_FALSE(votes[1].method_first);
  CHECK(find_reply(store, "k")->id == votes[1].reply);
  std::vector<std::string> samples;
  for (const StoredGeneration& generation : store.generations(summary.run.id)) {
    samples.push_back(generation.row.sample);
    CHECK(generation.row.text == "text of " + generation.row.sample);
  }
  std::sort(samples.begin(), samples.end());
  CHECK(samples == keys(0, 10));
  CHECK(store.database().integer("PRAGMA foreign_key_check") == 0);
  CHECK_THROWS_WITH(store.merge(folder.path() / "all.sqlite"), Catch::Contains("merged into"));
  CHECK_THROWS_WITH(store.merge(folder.path() / "none.sqlite"), Catch::Contains("no such file"));
}

TEST_CASE("a run that was merged before its end gets the later times") {
  TemporaryFolder folder;
  const auto from = folder.path() / "from.sqlite";
  Store all(folder.path() / "all.sqlite");
  {
    Store store(from);
    const RowId ar = begin(store, example_run("ar")), hpd = begin(store, example_run());
    CHECK(measure(store, ar, 0, keys(0, 2), 1000));
    CHECK(measure(store, hpd, 0, keys(0, 2), 500));
    store.repair_block(1, "p-1", 990, {});
    CHECK(measure(store, ar, 1, keys(2, 2), 1000));
    commit(store, stack(hpd, keys(2, 2), block_of(store, hpd, 1, keys(2, 2))));  // killed
    all.merge(from);
    CHECK(block_pairs(all, 1, 2).size() == 1);
    CHECK(store.finish_block(3, "p-2", 1100));
    CHECK(store.finish_block(4, "p-2", 510));
    store.finish_run(ar, RunStatus::done);
    store.finish_run(hpd, RunStatus::done);
  }
  const auto check = [&] {
    const auto pairs = block_pairs(all, 1, 2);
    REQUIRE(pairs.size() == 2);
    const auto& later = pairs[0].baseline.wall_ns == 1000 ? pairs[1] : pairs[0];
    CHECK(later.baseline.wall_ns == 1100);
    CHECK(later.method.wall_ns == 510);
    CHECK(all.find_runs({.status = RunStatus::done}).size() == 2);
    CHECK(all.database().integer("SELECT wall_ns FROM block_repair") == 990);
  };
  all.merge(from);
  check();
  all.merge(from);
  check();
  // An earlier state does not remove them.
  const auto before = folder.path() / "before.sqlite";
  {
    Store store(before);
    store.merge(from);
    store.database().run(
        "UPDATE block SET wall_ns = 900, process = 'p-1' WHERE position = 1 AND wall_ns = 1100");
  }
  all.merge(before);
  check();
}
