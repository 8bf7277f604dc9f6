#pragma once
#include <cstdint>
#include <string>

#include "src/support/text.hpp"

/// What databases of earlier schema versions lack, as SQL.
namespace pardec {

/// The key of a row `job` of table `schema`.job of that version. Before version 4 its examples'
/// keys were joined by '+', which they may hold themselves: they are read from the job's
/// generations, which were stored in their order.
inline std::string job_key_sql(const std::string& schema, const std::string& job,
                               std::int64_t version) {
  if (version >= 4) return job + ".key";
  return str(
      "coalesce(nullif((SELECT json_group_array(example) FROM (SELECT sample.key AS example "
      "FROM ",
      schema, ".generation JOIN ", schema,
      ".sample ON sample.id = sample_id "
      "WHERE job_id = ",
      job, ".id ORDER BY generation.id)), '[]'), json_array(", job, ".key))");
}

/// What version 4 lacks.
inline constexpr char kFromVersion4[] = R"(
ALTER TABLE block ADD COLUMN cpu_ns INTEGER;
ALTER TABLE block ADD COLUMN waited_ns INTEGER;
ALTER TABLE block ADD COLUMN stolen_ns INTEGER;
ALTER TABLE block ADD COLUMN mhz REAL;
ALTER TABLE block ADD COLUMN traced INTEGER NOT NULL DEFAULT 0 CHECK (traced IN (0, 1));
ALTER TABLE job ADD COLUMN first_token_ns INTEGER;
CREATE TABLE block_repair (
  block_id   INTEGER PRIMARY KEY REFERENCES block (id) ON DELETE CASCADE,
  process    TEXT NOT NULL,
  wall_ns    INTEGER NOT NULL,
  cpu_ns     INTEGER,
  waited_ns  INTEGER,
  stolen_ns  INTEGER,
  mhz        REAL
) STRICT;
CREATE TABLE invocation (
  uuid  TEXT PRIMARY KEY,
  name  TEXT UNIQUE,
  note  TEXT NOT NULL DEFAULT ''
) STRICT;
PRAGMA user_version = 5;)";

}  // namespace pardec
