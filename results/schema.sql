-- pardec's database. SQLite 3.37 or newer (STRICT tables).
-- Built into the binary; `sqlite3 new.sqlite < results/schema.sql` makes the same empty database.
-- Explained in results/database.md.
-- Times (_ns) are nanoseconds of a monotonic clock. Dates are UTC in ISO 8601. JSON is stored as
-- text. Flags are 0 or 1.

PRAGMA application_id = 1346458180;  -- "PARD"
PRAGMA user_version = 1;             -- of the schema; programs refuse other versions

-- What runs refer to ------------------------------------------------------------------------------

-- What a call of `run` or `sweep` was asked to do.
CREATE TABLE experiment (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,                             -- of the experiment
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),    -- arms, datasets, grid, pairs that cannot run
  UNIQUE (name, hash)
) STRICT;

-- A machine, with its software, as a process found it.
CREATE TABLE environment (
  id    INTEGER PRIMARY KEY,
  hash  TEXT NOT NULL UNIQUE,                      -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json))     -- machine, clocks, governor, driver, versions
) STRICT;

-- A network.
CREATE TABLE model (
  id     INTEGER PRIMARY KEY,
  path   TEXT NOT NULL,                            -- folder or file of the checkpoint
  hash   TEXT NOT NULL,                            -- hash of its files
  stamp  TEXT NOT NULL,                            -- sizes and times of the hashed files
  shape  TEXT NOT NULL CHECK (json_valid(shape)),  -- layers, width, heads, parameters, ...
  UNIQUE (path, hash)
) STRICT;

-- One split of a dataset.
CREATE TABLE dataset (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  split      TEXT NOT NULL,
  sha256     TEXT NOT NULL,                        -- hash of the files that were read
  is_sample  INTEGER NOT NULL CHECK (is_sample IN (0, 1)),  -- the project's own small sample
  is_standin INTEGER NOT NULL CHECK (is_standin IN (0, 1)),  -- generated words of the published lengths
  UNIQUE (name, split, sha256, is_sample, is_standin)
) STRICT;

-- An example of a dataset.
CREATE TABLE sample (
  id          INTEGER PRIMARY KEY,
  dataset_id  INTEGER NOT NULL REFERENCES dataset (id),
  key         TEXT NOT NULL,                       -- id of the example in its dataset
  cluster     TEXT NOT NULL,                       -- equal for examples with the same text
  category    TEXT NOT NULL,                       -- e.g. the kind of product
  text        TEXT NOT NULL DEFAULT '',            -- the input of decoders, e.g. a title
  fields      TEXT NOT NULL DEFAULT '[]'           -- JSON: [{"name", "annotated", "references"}]
              CHECK (json_valid(fields)),
  UNIQUE (dataset_id, key)
) STRICT;

-- Runs --------------------------------------------------------------------------------------------

-- The name of an invocation, and a note about it, as given by users.
CREATE TABLE invocation (
  uuid  TEXT PRIMARY KEY,                          -- as in run.invocation
  name  TEXT UNIQUE,                               -- NULL: no name
  note  TEXT NOT NULL DEFAULT ''
) STRICT;

-- One arm on one dataset in one invocation.
CREATE TABLE run (
  id              INTEGER PRIMARY KEY,
  uuid            TEXT NOT NULL UNIQUE,
  invocation      TEXT NOT NULL,                   -- shared by all arms and datasets of one call
  label           TEXT NOT NULL,                   -- the arm
  decoder         TEXT NOT NULL,
  options         TEXT NOT NULL                    -- options of the decoder, with defaults
                  CHECK (json_valid(options)),
  form            TEXT NOT NULL,                   -- json: all fields; value: one field; free: open
  baseline        TEXT,                            -- label of the baseline arm, if any
  experiment_id   INTEGER REFERENCES experiment (id),
  environment_id  INTEGER NOT NULL REFERENCES environment (id),
  dataset_id      INTEGER NOT NULL REFERENCES dataset (id),
  model_id        INTEGER NOT NULL REFERENCES model (id),
  draft_model_id  INTEGER REFERENCES model (id),
  config          TEXT NOT NULL                    -- settings of the run, by name
                  CHECK (json_valid(config)),
  config_hash     TEXT NOT NULL,                   -- SHA-256 of config
  oracle          TEXT,                            -- e.g. 'references'; NULL: no oracle
  untrained       INTEGER NOT NULL                 -- 1: random, or not trained for the decoder
                  CHECK (untrained IN (0, 1)),
  seed            INTEGER NOT NULL,                -- unsigned 64 bits, stored as signed
  device          TEXT NOT NULL,                   -- cpu, cuda:I, or service
  dtype           TEXT NOT NULL,                   -- number type; '-': a service answered
  threads         INTEGER NOT NULL,                -- CPU threads
  batch_size      INTEGER NOT NULL,                -- most jobs that run at the same time
  repeats         INTEGER NOT NULL,                -- answers to each example (--runs)
  arm_order       TEXT NOT NULL,                   -- interleaved or blocked
  shard           TEXT NOT NULL,                   -- 'I/N'; '': not sharded
  commit_hash     TEXT NOT NULL,                   -- version of pardec's source
  build_type      TEXT NOT NULL,                   -- e.g. Release
  prompt_hash     TEXT NOT NULL,                   -- SHA-256 of the wording
  argv            TEXT NOT NULL                    -- JSON: the command line
                  CHECK (json_valid(argv)),
  status          TEXT NOT NULL                    -- 'running' also after a kill
                  CHECK (status IN ('running', 'done', 'failed')),
  started_utc     TEXT NOT NULL,
  ended_utc       TEXT
) STRICT;
CREATE INDEX run_invocation ON run (invocation, dataset_id);

-- A process that ran blocks, and its machine. A run may have several: of resumes, ranks, shards.
CREATE TABLE process (
  uuid            TEXT PRIMARY KEY,
  host            TEXT NOT NULL,                   -- name of the machine
  environment_id  INTEGER NOT NULL REFERENCES environment (id)
) STRICT;

-- One block of an arm: an ordered list of examples, equal for all arms. Times are measured block by
-- block.
CREATE TABLE block (
  id             INTEGER PRIMARY KEY,
  run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  repeat         INTEGER NOT NULL,                 -- from 0
  position       INTEGER NOT NULL,                 -- index in the run, from 0
  block_key      TEXT NOT NULL,                    -- hash of samples, equal for all arms
  samples        TEXT NOT NULL CHECK (json_valid(samples)),    -- keys in order
  example_count  INTEGER NOT NULL,
  arms           TEXT NOT NULL CHECK (json_valid(arms)),       -- labels, in measured order
  process        TEXT,                             -- uuid of the process that measured it
  wall_ns        INTEGER,                          -- NULL: not measured as a whole by one process
  passes         INTEGER,                          -- forward passes of the network
  job_passes     INTEGER,                          -- jobs in a pass, summed over passes
  stream_passes  INTEGER,                          -- streams that chose in a pass, summed
  experts_read   INTEGER,                          -- experts that a pass read, over layers, summed
  cpu_ns         INTEGER,                          -- CPU time of the process
  waited_ns      INTEGER,                          -- threads were ready, others had the cores
  stolen_ns      INTEGER,                          -- cores were taken by the host or a quota
  mhz            REAL,                             -- mean clock of the cores at the end
  traced         INTEGER NOT NULL DEFAULT 0        -- 1: a trace was written at the same time
                 CHECK (traced IN (0, 1)),
  load           TEXT                              -- JSON: one list per half second of the block
                 CHECK (load IS NULL OR json_valid(load)),
  --   length in ns (shorter in the last list), rows in the cache (mean over this time), tokens
  --   generated, and ns in which jobs waited to start or for room in the cache
  UNIQUE (run_id, repeat, position),
  UNIQUE (run_id, repeat, block_key),
  CHECK ((process IS NULL) = (wall_ns IS NULL))
) STRICT;

-- A second measurement of a block whose first measurement other programs disturbed. The columns
-- mean the same as in table block.
CREATE TABLE block_repair (
  block_id   INTEGER PRIMARY KEY REFERENCES block (id) ON DELETE CASCADE,
  process    TEXT NOT NULL,
  wall_ns    INTEGER NOT NULL,
  cpu_ns     INTEGER,
  waited_ns  INTEGER,
  stolen_ns  INTEGER,
  mhz        REAL
) STRICT;

-- One call of a decoder (a prompt, a stack of products): the unit of commit and retry. Tokens,
-- passes and latency are counted per job.
CREATE TABLE job (
  id              INTEGER PRIMARY KEY,
  run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  block_id        INTEGER REFERENCES block (id) ON DELETE SET NULL,
  repeat          INTEGER NOT NULL,
  key             TEXT NOT NULL                    -- JSON: keys of its samples in order
                  CHECK (json_valid(key)),
  process         TEXT NOT NULL,                   -- uuid of the process that ran it
  attempts        INTEGER NOT NULL DEFAULT 1,
  error           TEXT,                            -- NULL: the job as a whole succeeded
  text            TEXT NOT NULL,                   -- the whole answer, if it is a single stream
  tokens          TEXT NOT NULL,                   -- JSON: ids of all generated tokens
  stop            TEXT NOT NULL,                   -- why the answer ended, if it is one stream
  prompt_tokens   INTEGER NOT NULL,                -- tokens of the prompt that were computed
  chosen          INTEGER NOT NULL,                -- tokens generated, including control tokens
  forced          INTEGER NOT NULL,                -- tokens inserted by the decoder (skeletons), not generated
  fed             INTEGER NOT NULL,                -- rows computed, including those of the prompt
  text_tokens     INTEGER NOT NULL,                -- tokens generated as text of the answer
  forwards        INTEGER NOT NULL,                -- passes with a row of the job
  prefill_ns      INTEGER NOT NULL,                -- ns from the start to the first pass's end
  decode_ns       INTEGER NOT NULL,                -- ns from the first pass's end to the end
  total_ns        INTEGER NOT NULL,                -- ns from the start to the end
  cached_peak     INTEGER NOT NULL,                -- rows cached after a step, maximum
  cached_sum      INTEGER NOT NULL,                -- rows cached after a step, summed over steps
  attended        INTEGER NOT NULL,                -- keys attended to, summed over computed rows
  scratch         INTEGER NOT NULL,                -- rows computed and later dropped
  branches        INTEGER NOT NULL,                -- streams of generated tokens in the answer
  branch_lengths  TEXT NOT NULL,                   -- JSON: tokens generated per stream (HPD: K_r)
  parallel_ratio  REAL,                            -- tokens generated per pass, on average
  acceptance      TEXT,                            -- JSON: counters of guesses
  --   drafted: tokens guessed, by place in a pass
  --   accepted: tokens guessed and accepted, by place in a pass
  --   draft_forwards: passes that made guesses, not included in forwards
  --   draft_fed: rows computed in these passes, not included in fed
  --   draft_ns: ns of these passes; a pass that jobs share counts in full
  unforced        TEXT,                            -- JSON, under an oracle: ids the network chose
  top2            TEXT,                            -- JSON: gaps between the two best logits, by row
  text_attended   INTEGER NOT NULL DEFAULT 0,      -- tokens before each text token on its path, summed
  parallel        TEXT,                            -- JSON: counters of parallel stages
  --   generated: tokens of the answer, including control and forced tokens (ASPD: A)
  --   branch_tokens: tokens of these that are in branches (ASPD: B)
  --   groups: stages decoded in parallel
  --   group_branches: branches in all these stages
  --   parallel_ns: ns spent in these stages
  first_token_ns  INTEGER,                         -- ns from the start to the answer's first token
  turns           TEXT,                            -- JSON: counters of each turn of a conversation
  UNIQUE (run_id, repeat, key)
) STRICT;
CREATE INDEX job_block ON job (block_id);

-- Number of forward passes of a job (forwards) that added so many tokens to its answer (emitted).
CREATE TABLE step_histogram (
  job_id    INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  emitted   INTEGER NOT NULL,
  forwards  INTEGER NOT NULL,
  PRIMARY KEY (job_id, emitted)
) STRICT, WITHOUT ROWID;

-- The answer to one example. stop says why the answer ended: terminator (e.g. </result>), eos (end
-- of sequence), limit (of tokens), context (the network has no more positions), interrupted
-- (Ctrl-C) or error. Each item of fields has the stop of its own answer.
CREATE TABLE generation (
  id                 INTEGER PRIMARY KEY,
  run_id             INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  sample_id          INTEGER NOT NULL REFERENCES sample (id),
  repeat             INTEGER NOT NULL,
  job_id             INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  text               TEXT NOT NULL,
  error              TEXT,                         -- NULL: no error
  tokens             TEXT NOT NULL,                -- JSON: ids of this example's answer
  fields             TEXT NOT NULL,                -- JSON: [{"name", "text", "tokens", "stop", "no_value"}]
  field_count        INTEGER NOT NULL,             -- number of items in fields
  stop               TEXT NOT NULL,                -- why the answer ended, if it is one stream
  identical          INTEGER CHECK (identical IN (0, 1)),  -- to the baseline's; NULL: not compared
  first_difference   INTEGER,                      -- index of the first token that differs
  gap_at_difference  REAL,                         -- between the two best logits there
  UNIQUE (run_id, sample_id, repeat)
) STRICT;
CREATE INDEX generation_job ON generation (job_id);
CREATE INDEX generation_sample ON generation (sample_id);

-- The value of one metric for one answer, or for one field of it.
CREATE TABLE score (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  metric         TEXT NOT NULL,
  version        TEXT NOT NULL,                    -- of the metric's definition
  field          TEXT NOT NULL,                    -- '' for the whole example
  value          REAL,                             -- NULL with is_nan = 1: not a number
  is_nan         INTEGER NOT NULL CHECK (is_nan IN (0, 1)),
  details        TEXT,                             -- JSON: data that the value was computed from
  UNIQUE (generation_id, metric, field, version),
  CHECK ((value IS NULL) = is_nan)
) STRICT;

-- The network did not choose forced tokens, so scores of runs with an oracle are refused.
CREATE TRIGGER score_not_under_oracle BEFORE INSERT ON score
WHEN (SELECT run.oracle FROM generation JOIN run ON run.id = generation.run_id
      WHERE generation.id = NEW.generation_id) IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a run under an oracle carries no score');
END;

-- Judges ------------------------------------------------------------------------------------------

-- A network behind a service, with its settings, or a person; or the service of an arm
-- ('arm:MODEL'), for its requests.
CREATE TABLE judge (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,                             -- of the model, or 'human:NAME'
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),    -- settings that may affect replies; no key
  UNIQUE (name, hash)
) STRICT;

-- How judges are asked. json has the wording of the question and the schema of the verdict.
CREATE TABLE protocol (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),
  UNIQUE (name, hash)
) STRICT;

-- Each request to a judge. The row is stored before the request is sent.
CREATE TABLE judge_attempt (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,                -- uuid of the process that sent it
  call_key           TEXT NOT NULL,                -- SHA-256 of everything that affects the reply;
                                                   -- for a service that answers an arm: the arm,
                                                   -- the stream and the number of the call
  number             INTEGER NOT NULL,             -- number of the attempt within its call, from 1
  started_utc        TEXT NOT NULL,
  waited_s           REAL NOT NULL,                -- time since the previous attempt
  seconds            REAL NOT NULL,                -- time until the response
  http_status        INTEGER NOT NULL,             -- 0: no response
  request_id         TEXT NOT NULL,                -- as the service reports it; '': not reported
  format             TEXT NOT NULL,                -- json_schema, json_object+schema, json_object or text
  prompt_tokens      INTEGER,                      -- upper bound while the outcome is unknown
  completion_tokens  INTEGER,                      -- with reasoning; upper bound if outcome unknown
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,                      -- part of prompt_tokens
  cost               REAL NOT NULL,                -- upper bound while the outcome is unknown
  outcome_unknown    INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),  -- may have been charged
  error              TEXT,                         -- NULL: there is a response
  body               TEXT,                         -- response that is not an answer
  UNIQUE (process, call_key, number)
) STRICT;

-- The outcome of a call: of its last attempt. Replies without a verdict are also stored, because
-- they were paid for.
CREATE TABLE judge_reply (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,
  call_key           TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('answered', 'refused', 'cut_short', 'failed')),
  text               TEXT NOT NULL,
  reason             TEXT NOT NULL,                -- if the state is not 'answered'
  served_model       TEXT NOT NULL,                -- as the service names it
  prompt_tokens      INTEGER,
  completion_tokens  INTEGER,
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,
  cost               REAL NOT NULL,
  valid              INTEGER NOT NULL CHECK (valid IN (0, 1)),  -- has a verdict
  created_utc        TEXT NOT NULL,                -- when the reply was stored
  UNIQUE (process, call_key)
) STRICT;
CREATE INDEX judge_reply_call ON judge_reply (call_key);

-- One vote on one answer, or on one field of it. state: scored (there is a verdict), unscored (the
-- reply has no verdict), refused (by the network or a filter) or error (there was no response).
CREATE TABLE judgment (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  judge_id       INTEGER NOT NULL REFERENCES judge (id),
  protocol_id    INTEGER NOT NULL REFERENCES protocol (id),
  field          TEXT NOT NULL,                    -- '' for the whole example
  vote           INTEGER NOT NULL,                 -- number of the vote, from 0
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  class          TEXT,                             -- e.g. 'correct'; NULL unless scored
  value          REAL,                             -- e.g. a grade; NULL: there is no number
  reason         TEXT,                             -- why there is no verdict; NULL if scored
  reply_id       INTEGER REFERENCES judge_reply (id),
  UNIQUE (generation_id, judge_id, protocol_id, field, vote)
) STRICT;
CREATE INDEX judgment_reply ON judgment (reply_id);

-- One vote on the answers of two arms to the same example, shown in one order.
CREATE TABLE comparison (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,  -- the method's
  baseline_id    INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  judge_id       INTEGER NOT NULL REFERENCES judge (id),
  protocol_id    INTEGER NOT NULL REFERENCES protocol (id),
  field          TEXT NOT NULL,                    -- '' for the whole example
  vote           INTEGER NOT NULL,                 -- number of the vote, from 0
  method_first   INTEGER NOT NULL                  -- 1: the method's answer was shown first
                 CHECK (method_first IN (0, 1)),
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  winner         TEXT CHECK (winner IN ('method', 'baseline', 'tie')),
  reason         TEXT,                             -- why there is no winner, or 'equal answers'
  reply_id       INTEGER REFERENCES judge_reply (id),
  UNIQUE (generation_id, baseline_id, judge_id, protocol_id, field, vote, method_first),
  CHECK ((winner IS NULL) = (state <> 'scored'))
) STRICT;
CREATE INDEX comparison_baseline ON comparison (baseline_id);
CREATE INDEX comparison_reply ON comparison (reply_id);

-- Files that a run wrote: traces, plots, reports.
CREATE TABLE artifact (
  id      INTEGER PRIMARY KEY,
  run_id  INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  kind    TEXT NOT NULL,
  path    TEXT NOT NULL,
  sha256  TEXT NOT NULL,
  UNIQUE (run_id, path)
) STRICT;

-- Views -------------------------------------------------------------------------------------------
-- Columns with the same name mean the same in all views: invocation (a call of `run`, as in --run),
-- dataset, split, arm, decoder, sample, repeat. Metrics have the names used in tables and csv.

-- A row of table run, with the names that tables and pages use.
CREATE VIEW run_names AS
SELECT run.id AS run_id, run.invocation, run.uuid AS run, dataset.name AS dataset, dataset.split,
       run.label AS arm, run.decoder
FROM run JOIN dataset ON dataset.id = run.dataset_id;

-- Blocks whose time is valid: one process measured the whole block, and no job failed.
CREATE VIEW measured_block AS
SELECT block.* FROM block
WHERE wall_ns IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.block_id = block.id AND job.error IS NOT NULL);

-- One row per answer to an example; each repeat has its own answer. The sum of a flag is the column
-- of that name in compare --format csv. seconds: the latency of the answer's job, which answered
-- examples_in_job examples together.
CREATE VIEW generations AS
WITH answer AS (
  SELECT generation.*, generation.error IS NOT NULL AS failed,
         CASE WHEN generation.error IS NOT NULL THEN 0
              WHEN field_count = 0 THEN stop IN ('limit', 'context')
              ELSE 2 * (SELECT count(*) FROM json_each(generation.fields) AS field
                        WHERE json_extract(field.value, '$.stop') IN ('limit', 'context')
                           OR json_extract(field.value, '$.thought.open')) > field_count
         END AS hit_limit,
         generation.error IS NULL
           AND EXISTS (SELECT 1 FROM newest_score WHERE generation_id = generation.id
                       AND metric = 'parsed' AND value = 0) AS unparsed,
         generation.error IS NULL
           AND trim(text, ' ' || char(9, 10, 11, 12, 13)) = '' AS empty
  FROM generation)
SELECT run_names.*, sample.key AS sample, sample.cluster, sample.category, answer.repeat,
       answer.id AS generation_id, answer.job_id AS job, sample.text AS asked,
       sample.fields AS "references", answer.text, answer.error, answer.stop, answer.fields,
       answer.tokens, answer.field_count, answer.failed, answer.hit_limit, answer.unparsed,
       answer.empty,
       answer.failed OR answer.unparsed OR answer.empty
         OR (answer.hit_limit AND run.form <> 'free') AS broken,
       answer.identical, answer.first_difference, answer.gap_at_difference,
       job.total_ns / 1e9 AS seconds, json_array_length(job.key) AS examples_in_job
FROM answer
JOIN run_names ON run_names.run_id = answer.run_id
JOIN run ON run.id = answer.run_id
JOIN sample ON sample.id = answer.sample_id
JOIN job ON job.id = answer.job_id;

-- The scores of the newest version of each metric.
CREATE VIEW newest_score AS
SELECT score.* FROM score
WHERE NOT EXISTS (SELECT 1 FROM score AS newer
                  WHERE newer.generation_id = score.generation_id AND newer.metric = score.metric
                    AND CAST(newer.version AS INTEGER) > CAST(score.version AS INTEGER));

-- For each metric: the rows of table score that it is computed from, and how.
CREATE VIEW metric_source AS
SELECT column1 AS metric, column2 AS stored, column3 AS counted FROM (VALUES
  ('f1_micro', 'value_correct', 'annotated values'),
  ('f1_macro', 'value_correct', 'annotated values by attribute'),
  ('f1_strict', 'value_correct', 'values'),
  ('f1_strict_macro', 'value_correct', 'values by attribute'),
  ('token_f1', 'token_f1', 'mean'),
  ('token_f1_has_answer', 'token_f1', 'has answer'),
  ('token_f1_no_answer', 'token_f1', 'no answer'),
  ('squad_exact', 'squad_exact', 'mean'),
  ('squad_exact_has_answer', 'squad_exact', 'has answer'),
  ('squad_exact_no_answer', 'squad_exact', 'no answer'),
  ('exact_match', 'exact_match', 'mean'), ('maths', 'maths', 'mean'),
  ('rouge_l', 'rouge_l', 'mean'), ('rouge_1', 'rouge_1', 'mean'), ('rouge_2', 'rouge_2', 'mean'),
  ('rouge_l_unicode', 'rouge_l_unicode', 'mean'),
  ('rouge_1_unicode', 'rouge_1_unicode', 'mean'),
  ('rouge_2_unicode', 'rouge_2_unicode', 'mean'),
  ('accuracy', 'accuracy', 'mean'),
  ('repetition', 'repetition', 'mean'), ('degenerate', 'repetition', 'above 3.5'),
  ('pass_at_1', 'passed', 'pass at 1'), ('pass_at_10', 'passed', 'pass at 10'),
  ('judge_f1', 'judge_class', 'f1'), ('judge_precision', 'judge_class', 'precision'),
  ('judge_recall', 'judge_class', 'recall'),
  ('judge_score', 'judge_score', 'mean'), ('judge_win_rate', 'judge_preference', 'mean'),
  ('judge_template', 'judge_template', 'mean'),
  ('log_likelihood', 'likelihood', 'likelihood'));

-- The contribution of each answer to a metric. The score of a set of answers is sum(numerator) /
-- sum(denominator) in each score_group, then the mean over groups whose denominators are not 0.
-- Only the macro scores have several groups. A failed answer counts as wrong.
CREATE VIEW score_parts AS
WITH drawn AS (  -- repeats of a programming task are its draws
  SELECT generation.run_id, generation.sample_id, newest_score.field, newest_score.value
  FROM generation CROSS JOIN newest_score ON newest_score.generation_id = generation.id
  WHERE newest_score.metric = 'passed'),
part AS (
  SELECT generation.run_id, generation.sample_id, generation.id AS generation_id,
         generation.repeat, generation.error IS NOT NULL AS failed, source.metric, source.counted,
         score.field, score.value, score.details,
         CASE WHEN counted LIKE 'pass%' THEN
           (SELECT count(*) FROM drawn WHERE drawn.run_id = generation.run_id
            AND drawn.sample_id = generation.sample_id AND drawn.field = score.field) END AS draws,
         CASE WHEN counted = 'pass at 10' THEN
           (SELECT sum(drawn.value = 0) FROM drawn WHERE drawn.run_id = generation.run_id
            AND drawn.sample_id = generation.sample_id AND drawn.field = score.field) END AS missed
  FROM generation
  JOIN newest_score AS score ON score.generation_id = generation.id
  JOIN metric_source AS source ON source.stored = score.metric
  WHERE CASE WHEN counted LIKE 'annotated%' THEN json_extract(details, '$.annotated')
             WHEN counted = 'has answer' THEN json_extract(details, '$.has_answer')
             WHEN counted = 'no answer' THEN NOT json_extract(details, '$.has_answer')
             WHEN counted = 'pass at 10' THEN generation.run_id IN  -- each task has ten draws
               (SELECT run_id FROM (SELECT run_id, count(*) AS draws FROM drawn
                                    GROUP BY run_id, sample_id, field)
                GROUP BY run_id HAVING min(draws) >= 10)
             ELSE 1 END)
SELECT run_names.*, sample.key AS sample, sample.cluster, sample.category, part.repeat,
       part.generation_id, part.failed, part.field, part.metric,
       CASE WHEN counted LIKE '%by attribute' THEN sample.category || '/' || part.field
            ELSE 'all' END AS score_group,
       CASE
         WHEN counted LIKE '%values%' THEN 2.0 * (json_extract(details, '$.counts_as') = 'vc')
         WHEN counted = 'above 3.5' THEN 1.0 * (value > 3.5)
         WHEN counted = 'pass at 1' THEN value / draws
         WHEN counted = 'pass at 10' THEN (1 - 1.0 * max(0, missed) / draws
           * max(0, missed - 1) / (draws - 1) * max(0, missed - 2) / (draws - 2)
           * max(0, missed - 3) / (draws - 3) * max(0, missed - 4) / (draws - 4)
           * max(0, missed - 5) / (draws - 5) * max(0, missed - 6) / (draws - 6)
           * max(0, missed - 7) / (draws - 7) * max(0, missed - 8) / (draws - 8)
           * max(0, missed - 9) / (draws - 9)) / draws
         WHEN counted = 'f1' THEN 2 * value
         WHEN counted = 'likelihood' THEN json_extract(details, '$.log_likelihood')
         ELSE value END AS numerator,
       CASE
         WHEN counted LIKE '%values%' THEN
           CASE json_extract(details, '$.counts_as') WHEN 'nn' THEN 0.0 WHEN 'vc' THEN 2.0
                WHEN 'vw' THEN 2.0 ELSE 1.0 END
         WHEN counted LIKE 'pass%' THEN 1.0 / draws
         WHEN counted = 'f1' THEN 2 * value
           + 2.0 * (json_extract(details, '$.class') = 'incorrect')
           + (json_extract(details, '$.class') IN ('hallucination', 'missing'))
         WHEN counted = 'precision' THEN value
           + 1.0 * (json_extract(details, '$.class') IN ('incorrect', 'hallucination'))
         WHEN counted = 'recall' THEN value
           + 1.0 * (json_extract(details, '$.class') IN ('incorrect', 'missing'))
         WHEN counted = 'likelihood' THEN 1.0 * json_extract(details, '$.tokens')
         ELSE 1.0 END AS denominator
FROM part
JOIN run_names ON run_names.run_id = part.run_id
JOIN sample ON sample.id = part.sample_id;

-- The score of each answer by each metric; NULL: the answer does not contribute to the metric. The
-- score of an arm is not the mean of these: see score_parts and paper_table.
CREATE VIEW scores_by_example AS
SELECT run_id, invocation, run, dataset, split, arm, decoder, sample, cluster, category, repeat,
       generation_id, failed, metric,
       CASE WHEN max(score_group) = 'all' THEN sum(numerator) / nullif(sum(denominator), 0)
            ELSE avg(numerator / nullif(denominator, 0)) END AS score
FROM score_parts
GROUP BY run_id, invocation, dataset, arm, generation_id, metric;  -- filters by these are fast

-- One row per row of table run. Sums are over jobs without an error; measured_* are over the jobs
-- of measured blocks. Counts of answers (generations, failed, ...) include repeats; n is the number
-- of examples.
CREATE VIEW run_summary AS
WITH counted AS (
  SELECT run_id, count(*) AS jobs, sum(error IS NOT NULL) AS failed_jobs FROM job GROUP BY run_id),
totals AS (
  SELECT run_id, sum(prompt_tokens) AS prompt_tokens, sum(chosen) AS chosen, sum(forced) AS forced,
         sum(fed) AS fed, sum(text_tokens) AS text_tokens,
         sum(text_attended) AS text_attended, sum(forwards) AS forwards,
         sum(prefill_ns) AS prefill_ns, sum(decode_ns) AS decode_ns, sum(total_ns) AS total_ns,
         max(cached_peak) AS cached_peak, sum(cached_sum) AS cached_sum, sum(attended) AS attended,
         sum(scratch) AS scratch, sum(branches) AS branches, avg(parallel_ratio) AS parallel_ratio
  FROM job WHERE error IS NULL GROUP BY run_id),
answers AS (
  SELECT run_id, count(DISTINCT sample) AS n, count(*) AS generations, sum(failed) AS failed,
         sum(hit_limit) AS hit_limit, sum(unparsed) AS unparsed, sum(empty) AS empty,
         sum(broken) AS broken, count(identical) AS compared, avg(identical) AS identical
  FROM generations GROUP BY run_id),
blocks AS (SELECT run_id, count(*) AS blocks FROM block GROUP BY run_id),
measured AS (
  SELECT run_id, count(*) AS measured_blocks, sum(wall_ns) AS measured_wall_ns,
         sum(example_count) AS measured_examples
  FROM measured_block GROUP BY run_id),
measured_jobs AS (
  SELECT job.run_id, sum(chosen) AS measured_chosen, sum(text_tokens) AS measured_text_tokens
  FROM job JOIN measured_block ON measured_block.id = job.block_id GROUP BY job.run_id),
measured_generations AS (
  SELECT generation.run_id, sum(field_count) AS measured_fields
  FROM generation
  JOIN job ON job.id = generation.job_id
  JOIN measured_block ON measured_block.id = job.block_id
  GROUP BY generation.run_id)
SELECT run_names.*, run.baseline,
       dataset.is_sample AS dataset_is_sample, dataset.is_standin AS dataset_is_standin,
       model.path AS model,
       run.oracle, run.untrained, run.device, run.dtype, run.batch_size, run.build_type,
       run.status, run.started_utc, run.ended_utc,
       coalesce(jobs, 0) AS jobs,
       coalesce(failed_jobs, 0) AS failed_jobs,
       coalesce(n, 0) AS n,
       coalesce(generations, 0) AS generations,
       coalesce(failed, 0) AS failed,
       coalesce(hit_limit, 0) AS hit_limit,
       coalesce(unparsed, 0) AS unparsed,
       coalesce(empty, 0) AS empty,
       coalesce(broken, 0) AS broken,
       coalesce(compared, 0) AS compared,
       identical,
       coalesce(blocks, 0) AS blocks,
       coalesce(measured_blocks, 0) AS measured_blocks,
       coalesce(measured_wall_ns, 0) AS measured_wall_ns,
       coalesce(measured_examples, 0) AS measured_examples,
       coalesce(measured_fields, 0) AS measured_fields,
       coalesce(measured_chosen, 0) AS measured_chosen,
       coalesce(measured_text_tokens, 0) AS measured_text_tokens,
       1e9 * measured_examples / nullif(measured_wall_ns, 0) AS examples_per_second,
       1e9 * measured_fields / nullif(measured_wall_ns, 0) AS fields_per_second,
       coalesce(prompt_tokens, 0) AS prompt_tokens,
       coalesce(chosen, 0) AS chosen,
       coalesce(forced, 0) AS forced,
       coalesce(fed, 0) AS fed,
       coalesce(text_tokens, 0) AS text_tokens,
       coalesce(text_attended, 0) AS text_attended,
       coalesce(forwards, 0) AS forwards,
       1.0 * chosen / nullif(forwards, 0) AS tokens_per_forward,
       coalesce(prefill_ns, 0) AS prefill_ns,
       coalesce(decode_ns, 0) AS decode_ns,
       coalesce(total_ns, 0) AS total_ns,
       coalesce(cached_peak, 0) AS cached_peak,
       coalesce(cached_sum, 0) AS cached_sum,
       coalesce(attended, 0) AS attended,
       coalesce(scratch, 0) AS scratch,
       coalesce(branches, 0) AS branches,
       parallel_ratio
FROM run
JOIN run_names ON run_names.run_id = run.id
JOIN dataset ON dataset.id = run.dataset_id
JOIN model ON model.id = run.model_id
LEFT JOIN counted ON counted.run_id = run.id
LEFT JOIN totals ON totals.run_id = run.id
LEFT JOIN answers ON answers.run_id = run.id
LEFT JOIN blocks ON blocks.run_id = run.id
LEFT JOIN measured ON measured.run_id = run.id
LEFT JOIN measured_jobs ON measured_jobs.run_id = run.id
LEFT JOIN measured_generations ON measured_generations.run_id = run.id;

-- A run and its baseline run, with the same invocation, dataset, model and shard.
CREATE VIEW run_pair AS
SELECT run.id AS run_id, base.id AS baseline_run, base.label AS baseline
FROM run
JOIN run AS base ON base.invocation = run.invocation AND base.dataset_id = run.dataset_id
                AND base.model_id = run.model_id AND base.shard = run.shard
                AND base.label = run.baseline AND base.id <> run.id;

-- Blocks that one process measured as a whole for an arm and for its baseline. speedup > 1: the arm
-- is faster. disturbed: other programs took at least 5 % of either's time; NULL: unknown.
CREATE VIEW speedup_pairs AS
WITH timed AS (
  SELECT measured_block.*, block_repair.process AS repair_process,
         block_repair.wall_ns AS repaired_wall_ns,
         1.0 * CASE WHEN measured_block.waited_ns IS NULL AND measured_block.stolen_ns IS NULL
                    THEN NULL
                    ELSE coalesce(measured_block.waited_ns, 0)
                         + coalesce(measured_block.stolen_ns, 0) END
           / (measured_block.wall_ns * run.threads) >= 0.05 AS disturbed
  FROM measured_block
  JOIN run ON run.id = measured_block.run_id
  LEFT JOIN block_repair ON block_repair.block_id = measured_block.id)
SELECT run_names.*, run_pair.baseline, run_pair.baseline_run, method.repeat,
       method.position AS block, method.block_key, method.samples, method.example_count,
       method.process, base.wall_ns AS baseline_ns, method.wall_ns AS method_ns,
       1.0 * base.wall_ns / method.wall_ns AS speedup,
       base.disturbed OR method.disturbed AS disturbed, base.traced OR method.traced AS traced,
       CASE WHEN base.repair_process = method.repair_process
            THEN base.repaired_wall_ns END AS baseline_repaired_ns,
       CASE WHEN base.repair_process = method.repair_process
            THEN method.repaired_wall_ns END AS method_repaired_ns
FROM run_pair
JOIN run_names ON run_names.run_id = run_pair.run_id
JOIN timed AS method ON method.run_id = run_pair.run_id
JOIN timed AS base ON base.run_id = run_pair.baseline_run
                  AND base.repeat = method.repeat
                  AND base.block_key = method.block_key
                  AND base.process = method.process;

-- The answers of an arm and of its baseline to the same example, with both scores: one row for each
-- metric of the arm's answer (NULL: it has no metric).
CREATE VIEW answer_pairs AS
SELECT run_names.*, run_pair.baseline, run_pair.baseline_run, method.sample, method.cluster,
       method.category, method.repeat, method.asked, method."references",
       base.text AS baseline_text, method.text, method.identical, method.first_difference,
       base.failed AS baseline_failed, method.failed, base.hit_limit AS baseline_hit_limit,
       method.hit_limit, base.broken AS baseline_broken, method.broken,
       base.seconds AS baseline_seconds, method.seconds, metric_source.metric,
       (SELECT CASE WHEN max(score_group) = 'all' THEN sum(numerator) / nullif(sum(denominator), 0)
                    ELSE avg(numerator / nullif(denominator, 0)) END
        FROM score_parts WHERE score_parts.generation_id = base.generation_id
                           AND score_parts.metric = metric_source.metric) AS baseline_score,
       (SELECT CASE WHEN max(score_group) = 'all' THEN sum(numerator) / nullif(sum(denominator), 0)
                    ELSE avg(numerator / nullif(denominator, 0)) END
        FROM score_parts WHERE score_parts.generation_id = method.generation_id
                           AND score_parts.metric = metric_source.metric) AS score
FROM run_pair
JOIN run_names ON run_names.run_id = run_pair.run_id
JOIN generation ON generation.run_id = run_pair.run_id
JOIN generation AS other ON other.run_id = run_pair.baseline_run
                        AND other.sample_id = generation.sample_id
                        AND other.repeat = generation.repeat
JOIN generations AS method ON method.generation_id = generation.id
JOIN generations AS base ON base.generation_id = other.id
LEFT JOIN metric_source
  ON EXISTS (SELECT 1 FROM score_parts WHERE score_parts.generation_id = generation.id
                                         AND score_parts.metric = metric_source.metric);

-- One field of an example in the answers of an arm and of its baseline: the contribution of each
-- to a metric, as numerator / denominator.
CREATE VIEW quality_pairs AS
SELECT method.run_id, method.invocation, method.run, method.dataset, method.split, method.arm,
       method.decoder, run_pair.baseline, run_pair.baseline_run, method.sample, method.cluster,
       method.category, method.repeat, method.metric, method.field,
       base.numerator / nullif(base.denominator, 0) AS baseline_value,
       method.numerator / nullif(method.denominator, 0) AS method_value, generation.identical
FROM run_pair
JOIN score_parts AS method ON method.run_id = run_pair.run_id
JOIN generation ON generation.id = method.generation_id
JOIN generation AS other ON other.run_id = run_pair.baseline_run
                        AND other.sample_id = generation.sample_id
                        AND other.repeat = generation.repeat
JOIN score_parts AS base ON base.generation_id = other.id
                        AND base.metric = method.metric
                        AND base.field = method.field;

-- One row per row of table run and metric (metric is NULL if the run has no scores), with speed,
-- share of identical answers, and score. score is the number that compare shows. parts is the
-- number of rows of score_parts, and not_a_number the number of those without a value.
CREATE VIEW paper_table AS
WITH speed AS (
  SELECT run_id, count(DISTINCT block_key) AS blocks,
         1.0 * sum(baseline_ns) / sum(method_ns) AS speedup,
         sum(disturbed) AS disturbed_measurements
  FROM speedup_pairs GROUP BY run_id),
quality AS (
  SELECT run_id, metric, avg(score) AS score, sum(parts) AS parts, sum(not_a_number) AS not_a_number
  FROM (SELECT run_id, metric,
               CASE WHEN count(numerator) = count(*)
                    THEN sum(numerator) / nullif(sum(denominator), 0) END AS score,
               count(*) AS parts, sum(numerator IS NULL) AS not_a_number
        FROM score_parts GROUP BY run_id, metric, score_group)
  GROUP BY run_id, metric)
SELECT run_names.*, summary.model, summary.dataset_is_sample, summary.dataset_is_standin,
       summary.oracle, summary.untrained, summary.build_type, summary.status, summary.baseline,
       summary.examples_per_second, summary.fields_per_second, summary.tokens_per_forward,
       speed.speedup, speed.blocks, speed.disturbed_measurements,
       summary.identical, summary.n, summary.generations, summary.failed, summary.hit_limit,
       summary.broken,
       quality.metric, quality.score, quality.parts, quality.not_a_number
FROM run_summary AS summary
JOIN run_names ON run_names.run_id = summary.run_id
LEFT JOIN speed ON speed.run_id = summary.run_id
LEFT JOIN quality ON quality.run_id = summary.run_id;
