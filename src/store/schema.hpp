#pragma once

namespace pardec {

/// The text of results/schema.sql, put into the program when it was built.
const char* schema_sql();
/// Its `user_version`: the one that this program reads and writes.
int schema_version();

}  // namespace pardec
