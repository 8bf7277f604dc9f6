// The views of files that an earlier program made.
#include "src/store/views.hpp"

#include "src/store/schema.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::string sql_of(Database& db, const std::string& view, const std::string& schema = "main") {
  Statement find(db, str("SELECT sql FROM ", schema, ".sqlite_schema WHERE name = ?"));
  find.bind(view);
  return find.step() ? find.text(0) : "";
}

/// A file with a run, without one of the tables, without one of the views, with another view in an
/// earlier text, and with a view that somebody added.
void make_earlier(const std::filesystem::path& file) {
  Store store(file);
  begin(store, example_run());
  store.database().execute(
      "DROP TABLE process; DROP VIEW score_parts; DROP VIEW speedup_pairs; CREATE VIEW "
      "speedup_pairs AS SELECT label "
      "FROM run; CREATE VIEW my_own AS SELECT label FROM run");
}

}  // namespace

TEST_CASE("opening a file for writing adds missing tables and views, and keeps those of others") {
  TemporaryFolder folder;
  Store fresh(folder.path() / "fresh.sqlite");
  make_earlier(folder.path() / "x.sqlite");
  {
    Store store(folder.path() / "x.sqlite", {.read_only = true});
    CHECK(sql_of(store.database(), "score_parts").empty());
  }
  Store store(folder.path() / "x.sqlite");
  for (const char* view : {"process", "score_parts", "speedup_pairs", "generations"}) {
    CAPTURE(view);
    CHECK(sql_of(store.database(), view) == sql_of(fresh.database(), view));
  }
  CHECK(!sql_of(store.database(), "my_own").empty());
  CHECK(store.database().integer("SELECT count(*) FROM speedup_pairs") == 0);
  Store again(folder.path() / "x.sqlite");  // writes nothing, so a lock of another does not matter
}

TEST_CASE("a file that may only be read is read by the program's own views, and stays as it is") {
  TemporaryFolder folder;
  make_earlier(folder.path() / "x.sqlite");
  Store store(folder.path() / "x.sqlite", {.read_only = true});
  Database& db = store.database();
  db.execute("PRAGMA query_only = ON");
  use_own_views(db);
  use_own_views(db);
  CHECK(db.integer("PRAGMA query_only") == 1);
  CHECK(db.integer("SELECT count(*) FROM pragma_table_info('speedup_pairs') WHERE name = 'arm'") ==
        1);
  CHECK(db.integer("SELECT count(*) FROM score_parts") == 0);
  CHECK(db.integer("SELECT count(*) FROM run_summary") == 1);
  CHECK(sql_of(db, "score_parts").empty());
  CHECK(store.machines("any").empty());  // the file has no table of them
  CHECK(sql_of(db, "speedup_pairs").find("label FROM run") != std::string::npos);
  Store other(folder.path() / "y.sqlite");
  use_own_views(other.database());  // has them
  CHECK(sql_of(other.database(), "speedup_pairs", "temp").empty());
}
