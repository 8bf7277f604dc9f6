#pragma once

namespace pardec {

/// The text of results/schema.sql, put into the program when it was built.
const char* schema_sql();

}  // namespace pardec
