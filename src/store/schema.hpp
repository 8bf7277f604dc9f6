#pragma once

namespace pardec {

/// The text of results/schema.sql, embedded at build time.
const char* schema_sql();
/// The schema's `user_version`: the only version that this program reads and writes.
int schema_version();

}  // namespace pardec
