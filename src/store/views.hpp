#pragma once

namespace pardec {

class Database;

/// The views of results/schema.sql hold no data, so a file made by an earlier program of the same
/// schema version only lacks their newest text. REQUIRES for both: `db` has the schema's tables.

/// Makes the views of the file those of this program. Writes nothing if they are. Other views stay.
void update_views(Database& db);

/// Lets this connection read this program's views, whatever the file holds. Writes nothing to the
/// file, which may be read only.
void use_own_views(Database& db);

}  // namespace pardec
