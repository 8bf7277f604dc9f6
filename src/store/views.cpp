#include "src/store/views.hpp"

#include <map>
#include <set>
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

/// A column of a table, with its type.
struct TableColumn {
  std::string table, name, type;
};

std::vector<TableColumn> columns_of(Database& db) {
  Statement find(
      db,
      "SELECT tables.name, columns.name, columns.type FROM main.sqlite_schema AS tables "
      "JOIN pragma_table_info(tables.name, 'main') AS columns WHERE tables.type = 'table'");
  std::vector<TableColumn> columns;
  while (find.step()) columns.push_back({find.text(0), find.text(1), find.text(2)});
  return columns;
}

/// The columns of the schema that tables of `db` lack. They may be NULL.
std::vector<TableColumn> missing_columns(Database& db) {
  Database schema;
  schema.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY);
  schema.execute(schema_sql());
  std::set<std::string> tables;
  std::set<std::pair<std::string, std::string>> there;
  for (const TableColumn& column : columns_of(db)) {
    tables.insert(column.table);
    there.emplace(column.table, column.name);
  }
  std::vector<TableColumn> missing = columns_of(schema);
  std::erase_if(missing, [&](const TableColumn& one) {
    return !tables.contains(one.table) || there.contains({one.table, one.name});
  });
  return missing;
}

/// Calls `make` on a database of which only this connection sees changes.
template <typename Make>
void make_temporary(Database& db, Make&& make) {
  const bool query_only = db.integer("PRAGMA query_only") != 0;
  db.execute("PRAGMA query_only = OFF");
  make();
  if (query_only) db.execute("PRAGMA query_only = ON");
}

}  // namespace

void update_schema(Database& db) {
  if (to_make(db, "table").empty() && missing_columns(db).empty() && to_make(db, "view").empty())
    return;
  Transaction transaction(db);
  // Another process may have made them while this one waited.
  for (const auto& [name, sql] : to_make(db, "table")) db.execute(sql);
  for (const TableColumn& column : missing_columns(db))
    db.execute(
        str("ALTER TABLE main.", column.table, " ADD COLUMN ", column.name, " ", column.type));
  for (const auto& [name, sql] : to_make(db, "view")) {
    db.execute(str("DROP VIEW IF EXISTS main.", name));
    db.execute(sql);
  }
  transaction.commit();
}

void use_own_views(Database& db) {
  const std::vector<View> views = to_make(db, "view");
  if (views.empty()) return;
  make_temporary(db, [&] {
    for (const auto& [name, sql] : views) {
      db.execute(str("DROP VIEW IF EXISTS temp.", name));
      db.execute(
          str("CREATE TEMP ", std::string_view(sql).substr(std::string_view("CREATE ").size())));
    }
  });
}

void use_all_columns(Database& db) {
  std::map<std::string, std::string> columns;  // by table
  for (const TableColumn& column : missing_columns(db))
    columns[column.table] += ", NULL AS " + column.name;
  if (columns.empty()) return;
  make_temporary(db, [&] {
    for (const auto& [table, more] : columns)
      db.execute(str("CREATE TEMP VIEW ", table, " AS SELECT *", more, " FROM main.", table));
  });
}

}  // namespace pardec
