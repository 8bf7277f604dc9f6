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

/// What version 5 lacks. No pardec of that version filled its tables of judges.
inline constexpr char kFromVersion5[] = R"(
DROP TABLE judgment;
DROP TABLE judge_cache;
CREATE TABLE judge (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  hash  TEXT NOT NULL,
  json  TEXT NOT NULL CHECK (json_valid(json)),
  UNIQUE (name, hash)
) STRICT;
CREATE TABLE protocol (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  hash  TEXT NOT NULL,
  json  TEXT NOT NULL CHECK (json_valid(json)),
  UNIQUE (name, hash)
) STRICT;
CREATE TABLE judge_attempt (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,
  call_key           TEXT NOT NULL,
  number             INTEGER NOT NULL,
  started_utc        TEXT NOT NULL,
  waited_s           REAL NOT NULL,
  seconds            REAL NOT NULL,
  http_status        INTEGER NOT NULL,
  request_id         TEXT NOT NULL,
  format             TEXT NOT NULL,
  prompt_tokens      INTEGER,
  completion_tokens  INTEGER,
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,
  cost               REAL NOT NULL,
  outcome_unknown    INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),
  error              TEXT,
  body               TEXT,
  UNIQUE (process, call_key, number)
) STRICT;
CREATE TABLE judge_reply (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,
  call_key           TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('answered', 'refused', 'cut_short', 'failed')),
  text               TEXT NOT NULL,
  reason             TEXT NOT NULL,
  served_model       TEXT NOT NULL,
  prompt_tokens      INTEGER,
  completion_tokens  INTEGER,
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,
  cost               REAL NOT NULL,
  valid              INTEGER NOT NULL CHECK (valid IN (0, 1)),
  created_utc        TEXT NOT NULL,
  UNIQUE (process, call_key)
) STRICT;
CREATE INDEX judge_reply_call ON judge_reply (call_key);
CREATE TABLE judgment (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  judge_id       INTEGER NOT NULL REFERENCES judge (id),
  protocol_id    INTEGER NOT NULL REFERENCES protocol (id),
  field          TEXT NOT NULL,
  vote           INTEGER NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  class          TEXT,
  value          REAL,
  reason         TEXT,
  reply_id       INTEGER REFERENCES judge_reply (id),
  UNIQUE (generation_id, judge_id, protocol_id, field, vote)
) STRICT;
CREATE INDEX judgment_reply ON judgment (reply_id);
CREATE TABLE comparison (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  baseline_id    INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  judge_id       INTEGER NOT NULL REFERENCES judge (id),
  protocol_id    INTEGER NOT NULL REFERENCES protocol (id),
  field          TEXT NOT NULL,
  vote           INTEGER NOT NULL,
  method_first   INTEGER NOT NULL CHECK (method_first IN (0, 1)),
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  winner         TEXT CHECK (winner IN ('method', 'baseline', 'tie')),
  reason         TEXT,
  reply_id       INTEGER REFERENCES judge_reply (id),
  UNIQUE (generation_id, baseline_id, judge_id, protocol_id, field, vote, method_first),
  CHECK ((winner IS NULL) = (state <> 'scored'))
) STRICT;
CREATE INDEX comparison_baseline ON comparison (baseline_id);
CREATE INDEX comparison_reply ON comparison (reply_id);
PRAGMA user_version = 6;)";

}  // namespace pardec
