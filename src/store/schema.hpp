#pragma once

namespace pardec {

/// The text of results/schema.sql, embedded at build time.
const char* schema_sql();
/// The `user_version` in the schema. This program reads and writes only databases of this version.
int schema_version();

}  // namespace pardec
