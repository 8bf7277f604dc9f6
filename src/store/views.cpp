#include "src/store/views.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/store/schema.hpp"
#include "src/store/sqlite.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The name of a view (or table), and the statement that makes it.
using View = std::pair<std::string, std::string>;

std::vector<View> objects_of(Database& db, const std::string& type) {
  Statement find(db, "SELECT name, sql FROM sqlite_schema WHERE type = ? ORDER BY rowid");
  find.bind(type);
  std::vector<View> objects;
  while (find.step()) objects.emplace_back(find.text(0), find.text(1));
  return objects;
}

/// The views of the schema that `db` lacks or has with another text, or the tables that it lacks.
std::vector<View> to_make(Database& db, const std::string& type) {
  Database schema;
  schema.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY);
  schema.execute(schema_sql());
  std::map<std::string, std::string> there;
  for (auto& [name, sql] : objects_of(db, type)) there.emplace(name, std::move(sql));
  std::vector<View> objects = objects_of(schema, type);
  std::erase_if(objects, [&](const View& one) {
    const auto found = there.find(one.first);
    return found != there.end() && (type == "table" || found->second == one.second);
  });
  return objects;
}

}  // namespace

void update_schema(Database& db) {
  if (to_make(db, "table").empty() && to_make(db, "view").empty()) return;
  Transaction transaction(db);
  // Another process may have made them while this one waited.
  for (const auto& [name, sql] : to_make(db, "table")) db.execute(sql);
  for (const auto& [name, sql] : to_make(db, "view")) {
    db.execute(str("DROP VIEW IF EXISTS main.", name));
    db.execute(sql);
  }
  transaction.commit();
}

void use_own_views(Database& db) {
  const std::vector<View> views = to_make(db, "view");
  if (views.empty()) return;
  const bool query_only = db.integer("PRAGMA query_only") != 0;
  db.execute("PRAGMA query_only = OFF");
  for (const auto& [name, sql] : views) {
    db.execute(str("DROP VIEW IF EXISTS temp.", name));
    db.execute(
        str("CREATE TEMP ", std::string_view(sql).substr(std::string_view("CREATE ").size())));
  }
  if (query_only) db.execute("PRAGMA query_only = ON");
}

}  // namespace pardec
