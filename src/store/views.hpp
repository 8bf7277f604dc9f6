#pragma once

namespace pardec {

class Database;

/// Both functions give a database the views of this program (results/schema.sql). Since views
/// contain no data, this works for every database of the same schema version, whichever program
/// version made it. REQUIRES for both: `db` has the schema's tables.

/// Replaces the views in the file. Writes nothing if they are equal already. Other views in the
/// file are kept.
void update_views(Database& db);

/// Makes this connection use this program's views, not the views in the file. The file is not
/// changed, so it may be read-only.
void use_own_views(Database& db);

}  // namespace pardec
