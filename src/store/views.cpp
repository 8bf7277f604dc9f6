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
std::vector<View> to_make(Database& db, Database& schema, const std::string& type) {
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

/// `file`: main, or the name of an attached file.
std::vector<TableColumn> columns_of(Database& db, const std::string& file) {
  Statement find(db, str("SELECT tables.name, columns.name, columns.type FROM ", file,
                         ".sqlite_schema AS tables JOIN pragma_table_info(tables.name, '", file,
                         "') AS columns WHERE tables.type = 'table'"));
  std::vector<TableColumn> columns;
  while (find.step()) columns.push_back({find.text(0), find.text(1), find.text(2)});
  return columns;
}

/// The columns of the schema that tables of the file lack. They may be NULL.
std::vector<TableColumn> missing_columns(Database& db, Database& schema, const std::string& file) {
  std::set<std::string> tables;
  std::set<std::pair<std::string, std::string>> there;
  for (const TableColumn& column : columns_of(db, file)) {
    tables.insert(column.table);
    there.emplace(column.table, column.name);
  }
  std::vector<TableColumn> missing = columns_of(schema, "main");
  std::erase_if(missing, [&](const TableColumn& one) {
    return !tables.contains(one.table) || there.contains({one.table, one.name});
  });
  return missing;
}

/// An empty database with the schema, in memory.
struct Schema {
  Schema() {
    db.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY);
    db.execute(schema_sql());
  }
  Database db;
};

/// The statement of a temporary view: a table of a file, with columns that it lacks.
std::string whole_table(const std::string& view, const std::string& file, const std::string& table,
                        const std::string& more) {
  return str("CREATE TEMP VIEW ", view, " AS SELECT *", more, " FROM ", file, ".", table);
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
  Schema schema;
  const auto columns = [&] { return missing_columns(db, schema.db, "main"); };
  const auto objects = [&](const char* type) { return to_make(db, schema.db, type); };
  if (objects("table").empty() && columns().empty() && objects("view").empty()) return;
  Transaction transaction(db);
  // Another process may have made them while this one waited.
  for (const auto& [name, sql] : objects("table")) db.execute(sql);
  for (const TableColumn& column : columns())
    db.execute(
        str("ALTER TABLE main.", column.table, " ADD COLUMN ", column.name, " ", column.type));
  for (const auto& [name, sql] : objects("view")) {
    db.execute(str("DROP VIEW IF EXISTS main.", name));
    db.execute(sql);
  }
  transaction.commit();
}

void use_own_views(Database& db) {
  Schema schema;
  const std::vector<View> views = to_make(db, schema.db, "view");
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
  Schema schema;
  std::map<std::string, std::string> columns;  // by table
  for (const TableColumn& column : missing_columns(db, schema.db, "main"))
    columns[column.table] += ", NULL AS " + column.name;
  if (columns.empty()) return;
  make_temporary(db, [&] {
    for (const auto& [table, more] : columns) db.execute(whole_table(table, "main", table, more));
  });
}

void view_all_columns(Database& db, const std::string& file, const std::string& table,
                      const std::string& view) {
  Schema schema;
  std::string more;
  for (const TableColumn& column : missing_columns(db, schema.db, file))
    if (column.table == table) more += ", NULL AS " + column.name;
  db.execute(whole_table(view, file, table, more));
}

}  // namespace pardec
