#pragma once

namespace pardec {

class Database;

/// Updates the views of a database (results/schema.sql). Views contain no data. Therefore a program
/// can replace the views of a file that an earlier program of the same schema version made.
/// REQUIRES for both functions: `db` has the schema's tables.

/// Replaces the schema's views in the file with those of this program. Writes nothing if they are
/// equal. Views that the schema does not have are kept.
void update_views(Database& db);

/// Makes this connection use this program's views instead of those in the file. Writes nothing to
/// the file, which may be read only.
void use_own_views(Database& db);

}  // namespace pardec
