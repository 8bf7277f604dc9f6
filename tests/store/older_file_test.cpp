// Files of an earlier pardec, whose tables have fewer columns.
#include "src/store/store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

namespace pardec {

namespace {

/// A database with one block, from before the columns experts_read and load.
std::filesystem::path older_file(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "older.sqlite";
  { Store made(file); }
  Database db;
  db.open(file.string(), SQLITE_OPEN_READWRITE);
  std::vector<std::string> views;
  {
    Statement find(db, "SELECT name FROM sqlite_schema WHERE type = 'view'");
    while (find.step()) views.push_back(find.text(0));
  }
  for (const std::string& view : views) db.execute("DROP VIEW " + view);
  db.execute("ALTER TABLE block DROP COLUMN experts_read");
  db.execute("ALTER TABLE block DROP COLUMN load");
  db.execute(
      "PRAGMA foreign_keys = OFF; INSERT INTO block (run_id, repeat, position, block_key, samples, "
      "example_count, arms) VALUES (1, 0, 0, 'b', '[]', 0, '[]')");
  return file;
}

std::int64_t blocks_without_experts(Store& store) {
  return store.database().integer(
      "SELECT count(*) FROM block WHERE block_key = 'b' AND experts_read IS NULL");
}

}  // namespace

TEST_CASE("A column that an older file lacks is NULL", "[store]") {
  const TemporaryFolder folder;
  const std::filesystem::path file = older_file(folder.path());
  {
    Store reader(file, {.read_only = true});
    CHECK(blocks_without_experts(reader) == 1);
    CHECK(reader.loads_of(1).empty());
  }
  Store all(folder.path() / "all.sqlite");
  CHECK_NOTHROW(all.merge(file));
  Store writer(file);
  CHECK(blocks_without_experts(writer) == 1);
  CHECK(writer.database().integer("SELECT count(*) FROM main.block WHERE experts_read > 0") == 0);
}

}  // namespace pardec
