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

/// A view's name, and the statement that makes it.
using View = std::pair<std::string, std::string>;

std::vector<View> views_of(Database& db) {
  Statement find(db, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid");
  std::vector<View> views;
  while (find.step()) views.emplace_back(find.text(0), find.text(1));
  return views;
}

/// The views of the schema that `db` lacks or has with another text.
std::vector<View> views_to_make(Database& db) {
  Database schema;
  schema.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY);
  schema.execute(schema_sql());
  std::map<std::string, std::string> there;
  for (auto& [name, sql] : views_of(db)) there.emplace(name, std::move(sql));
  std::vector<View> views = views_of(schema);
  std::erase_if(views, [&](const View& view) {
    const auto found = there.find(view.first);
    return found != there.end() && found->second == view.second;
  });
  return views;
}

}  // namespace

void update_views(Database& db) {
  if (views_to_make(db).empty()) return;
  Transaction transaction(db);
  // Another process may have made them while this one waited.
  for (const auto& [name, sql] : views_to_make(db)) {
    db.execute(str("DROP VIEW IF EXISTS main.", name));
    db.execute(sql);
  }
  transaction.commit();
}

void use_own_views(Database& db) {
  const std::vector<View> views = views_to_make(db);
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
