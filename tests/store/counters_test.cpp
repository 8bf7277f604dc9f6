// The table of counters, the schema and the readers agree.
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // within std::regex (GCC bug 105562)
#endif
#include <regex>
#include <set>

#include "src/store/counter_columns.hpp"
#include "src/store/schema.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A job in which each counter is a different number.
Stack counted(RowId run, const JobKey& samples, std::int64_t first) {
  Stack out = stack(run, samples);
  Counters& c = out.job.counters;
  c = {};
  for (const Counter& counter : kCounters)
    if (const auto* of = number(counter)) c.*(*of) = first++;
  c.branch_lengths = {first, 2};
  c.emitted = {{1, first}, {3, 4}};
  c.drafted = {first, 5};
  c.accepted = {3, 1};
  return out;
}

/// The text of table `job` in results/schema.sql.
std::string job_table() {
  const std::string sql = schema_sql();
  const std::size_t begin = sql.find("CREATE TABLE job (");
  return sql.substr(begin, sql.find("STRICT;", begin) - begin);
}

/// The line of a column, or of a member of a JSON column; empty: there is none.
std::string line_of(const std::string& table, const std::string& begin) {
  std::smatch found;
  return std::regex_search(table, found, std::regex("\n  " + begin + "[^\n]*")) ? found.str() : "";
}

}  // namespace

TEST_CASE("results/schema.sql has the counters of the table, with their meanings") {
  const std::string table = job_table();
  for (const CounterColumn& column : counter_columns()) {
    const std::string line = line_of(table, str(column.name, " "));
    INFO("column " << column.name << " in results/schema.sql: " << line);
    for (const Counter& counter : column.counters) {
      const std::string said = str(counter.unit, " ", counter.meaning);
      INFO("expected: -- " << said);
      if (column.is_json())
        CHECK(line_of(table, str("--   ", counter.column, ": ")) ==
              str("\n  --   ", counter.column, ": ", said));
      else
        CHECK(line.ends_with(str(column.is_list() ? "-- JSON: " : " -- ", said)));
    }
    const bool plain = number(column.counters.front()) && !column.is_json();
    const bool maybe = column.counters.front().beside == Adding::earliest;
    CHECK((line.find(plain                 ? maybe ? " INTEGER, " : " INTEGER NOT NULL"
                     : column.is_list()    ? " TEXT NOT NULL, "
                     : column.is_derived() ? " REAL, "
                                           : " TEXT, ") != std::string::npos));
  }
}

TEST_CASE("the table has all numbers of a job") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  std::set<std::string> others;
  Statement find(store.database(),
                 "SELECT name FROM pragma_table_info('job') WHERE type <> 'TEXT'");
  while (find.step()) others.insert(find.text(0));
  for (const CounterColumn& column : counter_columns()) others.erase(std::string(column.name));
  CHECK(others == std::set<std::string>{"id", "run_id", "block_id", "repeat", "attempts"});
}

TEST_CASE("every counter is stored, read and merged") {
  TemporaryFolder folder;
  const auto file = folder.path() / "x.sqlite";
  Store store(file);
  const RowId run = begin(store, example_run());
  const Stack given = counted(run, keys(0, 2), 1000);
  commit(store, given);
  Store all(folder.path() / "all.sqlite");
  all.merge(file);
  for (Store* of : {&store, &all}) {
    CHECK(to_json(of->jobs(1).at(0).counters) == to_json(given.job.counters));
    const JobFigures job = of->figures(of->find_runs({})).runs.at(0).jobs.at(0);
    for (const Counter& counter : kCounters)
      if (const auto* number_of = number(counter)) {
        CAPTURE(counter.name);
        CHECK(job.*(*number_of) == given.job.counters.*(*number_of));
      }
  }
}

TEST_CASE("a missing value is NULL in the database, and 0 or empty when it is read") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  Stack none = counted(run, keys(0, 2), 1000);
  none.job.counters.first_token_ns = none.job.counters.generated = 0;
  none.job.counters.drafted = none.job.counters.accepted = {};
  commit(store, none);
  commit(store, failed(stack(run, keys(2, 2)), "out of luck"));
  const auto nulls = [&](const char* column) {
    return store.database().integer(str("SELECT count(*) FROM job WHERE ", column, " IS NULL"));
  };
  CHECK(nulls("first_token_ns") == 1);
  CHECK(nulls("acceptance") == 1);
  CHECK(nulls("parallel") == 1);
  CHECK(nulls("parallel_ratio") == 1);  // of the failed job
  const Counters back = store.jobs(run).at(0).counters;
  CHECK(back.first_token_ns == 0);
  CHECK(back.drafted.empty());
  CHECK(back.draft_forwards == 0);
  CHECK(back.groups == 0);
}

TEST_CASE("the view run_summary and the program compute the same sums") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  const RowId run = begin(store, example_run());
  for (int b = 0; b < 2; ++b) {
    BlockRow block;
    block.run = run;
    block.position = b;
    block.samples = keys(2 * b, 2);
    const RowId id = store.begin_block(block);
    Stack job = counted(run, block.samples, 1000 * (b + 1));
    job.job.block = id;
    job.generations[0].identity = Identity{b == 0, 3, 0.5};
    commit(store, job);
    if (b == 0) REQUIRE(store.finish_block(id, "p-1", 5000));
  }
  commit(store, failed(counted(run, keys(8, 1), 5), "out of luck"));
  const RunSummary sums = store.summaries({}).at(0);
  const auto viewed = [&](std::string_view column) {
    return store.database().integer(str("SELECT ", column, " FROM run_summary"));
  };
  int compared = 0;
  for (const CounterColumn& column : counter_columns()) {
    const Counter& counter = column.counters.front();
    const auto* of = number(counter);
    if (!of || column.is_json() || counter.after == Adding::first) continue;
    CAPTURE(column.name);
    CHECK(viewed(column.name) == sums.totals.*(*of));
    ++compared;
  }
  CHECK(compared >= 15);
  CHECK(sums.totals.emitted.at(3) == 8);
  for (const auto& [column, value] : {std::pair{"jobs", sums.jobs},
                                      {"failed_jobs", sums.failed_jobs},
                                      {"generations", sums.generations},
                                      {"failed", sums.failed_generations},
                                      {"compared", sums.compared},
                                      {"identical * compared", sums.identical},
                                      {"n", sums.examples},
                                      {"blocks", sums.blocks},
                                      {"measured_blocks", sums.measured_blocks},
                                      {"measured_wall_ns", sums.measured_wall_ns},
                                      {"measured_examples", sums.measured_examples},
                                      {"measured_fields", sums.measured_fields},
                                      {"measured_chosen", sums.measured_chosen},
                                      {"measured_text_tokens", sums.measured_text_tokens}}) {
    CAPTURE(column);
    CHECK(viewed(column) == value);
    CHECK(value > 0);
  }
}
