#pragma once
#include <string>

namespace pardec {

class Database;

/// A database may have been written by an earlier pardec with the same schema version
/// (results/schema.sql). Such a database may lack tables and columns, and may have older views.
/// These functions make such a database usable. Views contain no data, so they can be replaced;
/// tables and columns are only added. All functions throw StoreError if SQLite fails (Database).
/// REQUIRES, for all functions: `db` was written by a pardec with this schema version.

/// Adds the schema's tables and columns that the file lacks, and replaces the schema's views in the
/// file. New columns are NULL. Writes nothing if there is no difference. Other tables and views are
/// kept.
void update_schema(Database& db);

/// Makes this connection use this program's views, not the views in the file. The file is not
/// changed, so it may be read-only.
void use_own_views(Database& db);

/// Makes this connection see the columns that tables of the file lack; they are NULL. The file is
/// not changed, so it may be read-only.
void use_all_columns(Database& db);

/// Creates the temporary view `view` of the table `table` in the attached database with the schema
/// name `file`. Columns that the table lacks are NULL.
void view_all_columns(Database& db, const std::string& file, const std::string& table,
                      const std::string& view);

}  // namespace pardec
