#include "src/store/schema.hpp"

#include <cstdlib>
#include <set>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::set<std::string> names(Database& db, const std::string& type) {
  Statement find(db, "SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%'");
  find.bind(type);
  std::set<std::string> out;
  while (find.step()) out.insert(find.text(0));
  return out;
}

}  // namespace

TEST_CASE("the program contains results/schema.sql unchanged") {
  CHECK(schema_sql() == read_file(std::string(PARDEC_SOURCE_DIR) + "/results/schema.sql"));
}

TEST_CASE("the schema has the tables, views and columns that readers rely on") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  Database& db = store.database();
  CHECK(names(db, "table") ==
        std::set<std::string>{
            "experiment", "environment", "model",    "dataset",       "sample",
            "run",        "block",       "job",      "generation",    "step_histogram",
            "score",      "judge",       "protocol", "judge_attempt", "judge_reply",
            "judgment",   "comparison",  "artifact", "block_repair",  "process",
            "invocation"});
  const std::set<std::string> views = names(db, "view");
  CHECK(views == std::set<std::string>{"run_names", "measured_block", "generations", "newest_score",
                                       "metric_source", "score_parts", "scores_by_example",
                                       "run_summary", "run_pair", "speedup_pairs", "answer_pairs",
                                       "quality_pairs", "paper_table"});
  CHECK(db.integer("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = "
                   "'table' AND NOT strict "
                   "AND name NOT LIKE 'sqlite_%'") == 0);
  CHECK(
      db.integer(
          "SELECT count(*) FROM pragma_table_info('generation') WHERE name IN ('text', 'error')") ==
      2);
  CHECK(db.integer("SELECT count(*) FROM pragma_table_info('score') WHERE name IN ('metric', "
                   "'value', 'is_nan')") == 3);
  for (const std::string& view : views)
    if (view != "metric_source") CHECK(db.integer(str("SELECT count(*) FROM ", view)) == 0);
  CHECK(db.integer("PRAGMA foreign_keys") == 1);
  CHECK(db.integer("PRAGMA busy_timeout") == 30000);
  CHECK(db.integer("PRAGMA synchronous") == 1);
  Statement journal(db, "PRAGMA journal_mode");
  journal.step();
  CHECK(journal.text(0) == "wal");
}

TEST_CASE("the sqlite3 command line makes a database that pardec opens") {
  if (std::system("command -v sqlite3 > /dev/null") != 0) {
    std::cout << "[skipped] the sqlite3 command is missing\n";
    return;
  }
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  REQUIRE(std::system(
              str("sqlite3 -bail ", file.string(), " < ", PARDEC_SOURCE_DIR, "/results/schema.sql")
                  .c_str()) == 0);
  {
    Store store(file);
    begin(store, example_run());
  }
  CHECK(std::system(
            str("sqlite3 -bail ", file.string(), " 'SELECT * FROM run_summary' | grep -q oa-mine")
                .c_str()) == 0);
}

TEST_CASE("types, references and states are enforced") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  Database& db = store.database();
  const RowId run = begin(store, example_run());
  commit(store, stack(run, keys(0, 2)));
  CHECK_THROWS_WITH(db.run("UPDATE job SET chosen = 'many'"),
                    Catch::Contains("cannot store TEXT value in INTEGER"));
  CHECK_THROWS_WITH(db.run("INSERT INTO step_histogram VALUES (999, 1, 1)"),
                    Catch::Contains("FOREIGN KEY"));
  CHECK_THROWS_WITH(db.run("UPDATE run SET status = 'paused'"), Catch::Contains("CHECK"));
  CHECK_THROWS_WITH(db.run("UPDATE run SET config = '{'"), Catch::Contains("CHECK"));
  CHECK_THROWS_WITH(db.run("UPDATE score SET value = NULL"), Catch::Contains("CHECK"));
  CHECK_THROWS_WITH(db.run("DELETE FROM sample"), Catch::Contains("FOREIGN KEY"));
  db.run("DELETE FROM run");  // also removes what belongs only to it
  for (const char* table : {"job", "generation", "score", "step_histogram"}) {
    CHECK(db.integer(str("SELECT count(*) FROM ", table)) == 0);
  }
  CHECK(db.integer("SELECT count(*) FROM sample") == 24);
}

TEST_CASE("a run with an oracle takes no score") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  RunRow row = example_run();
  row.oracle = "references";
  const RowId run = begin(store, row);
  Stack job = stack(run, keys(0, 1));
  CHECK_THROWS_WITH(commit(store, job), Catch::Contains("oracle"));
  CHECK(store.jobs(run).empty());
  job.generations[0].scores.clear();
  CHECK(commit(store, job) == Committed::inserted);
}
