#pragma once

namespace pardec {

class Database;

/// Updates a database (results/schema.sql) that an earlier program of the same schema version made.
/// Views contain no data, so they can be replaced. Tables are only added.
/// REQUIRES for both functions: `db` has the tables of such a program.

/// Adds the schema's tables that the file lacks, and replaces the schema's views in it with those
/// of this program. Writes nothing if there is no difference. Other tables and views are kept.
void update_schema(Database& db);

/// Makes this connection use this program's views instead of those in the file. Writes nothing to
/// the file, which may be read only.
void use_own_views(Database& db);

}  // namespace pardec
