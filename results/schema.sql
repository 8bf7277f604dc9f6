-- pardec's database. SQLite 3.37 or newer (STRICT tables).
-- Built into the binary; `sqlite3 new.sqlite < results/schema.sql` makes the same empty database.
-- How to read it: results/database.md.
-- Times are nanoseconds (_ns) of a monotonic clock, dates UTC in ISO 8601, JSON is text, flags are
-- 0 or 1.

PRAGMA application_id = 1346458180;  -- "PARD"
PRAGMA user_version = 1;             -- of the schema; a program takes no other

-- What runs refer to ------------------------------------------------------------------------------

CREATE TABLE experiment (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),    -- the experiment file as it was run
  UNIQUE (name, hash)
) STRICT;

CREATE TABLE environment (
  id    INTEGER PRIMARY KEY,
  hash  TEXT NOT NULL UNIQUE,                      -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json))     -- machine, clocks, governor, driver, versions
) STRICT;

CREATE TABLE model (
  id     INTEGER PRIMARY KEY,
  path   TEXT NOT NULL,
  hash   TEXT NOT NULL,
  stamp  TEXT NOT NULL,                            -- sizes and times of the hashed files
  shape  TEXT NOT NULL CHECK (json_valid(shape)),
  UNIQUE (path, hash)
) STRICT;

CREATE TABLE dataset (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  split      TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  is_sample  INTEGER NOT NULL CHECK (is_sample IN (0, 1)),  -- the project's own small sample
  is_standin INTEGER NOT NULL CHECK (is_standin IN (0, 1)),  -- generated words of the published lengths
  UNIQUE (name, split, sha256, is_sample, is_standin)
) STRICT;

CREATE TABLE sample (
  id          INTEGER PRIMARY KEY,
  dataset_id  INTEGER NOT NULL REFERENCES dataset (id),
  key         TEXT NOT NULL,
  cluster     TEXT NOT NULL,                       -- examples that share a text share it
  category    TEXT NOT NULL,
  text        TEXT NOT NULL DEFAULT '',            -- what the decoders read, e.g. a title
  fields      TEXT NOT NULL DEFAULT '[]'           -- JSON: [{"name", "annotated", "references"}]
              CHECK (json_valid(fields)),
  UNIQUE (dataset_id, key)
) STRICT;

-- Runs --------------------------------------------------------------------------------------------

-- What people call an invocation, and say of it.
CREATE TABLE invocation (
  uuid  TEXT PRIMARY KEY,
  name  TEXT UNIQUE,
  note  TEXT NOT NULL DEFAULT ''
) STRICT;

-- One arm of one dataset of one invocation.
CREATE TABLE run (
  id              INTEGER PRIMARY KEY,
  uuid            TEXT NOT NULL UNIQUE,
  invocation      TEXT NOT NULL,                   -- shared by all arms and datasets of one call
  label           TEXT NOT NULL,                   -- the arm
  decoder         TEXT NOT NULL,
  options         TEXT NOT NULL CHECK (json_valid(options)),
  form            TEXT NOT NULL,
  baseline        TEXT,                            -- label of the arm it is compared with, if any
  experiment_id   INTEGER REFERENCES experiment (id),
  environment_id  INTEGER NOT NULL REFERENCES environment (id),
  dataset_id      INTEGER NOT NULL REFERENCES dataset (id),
  model_id        INTEGER NOT NULL REFERENCES model (id),
  draft_model_id  INTEGER REFERENCES model (id),
  config          TEXT NOT NULL CHECK (json_valid(config)),
  config_hash     TEXT NOT NULL,
  oracle          TEXT,                            -- e.g. 'references'; NULL: nothing was forced
  untrained       INTEGER NOT NULL CHECK (untrained IN (0, 1)),
  seed            INTEGER NOT NULL,                -- 64 bits, unsigned seen as signed
  device          TEXT NOT NULL,
  dtype           TEXT NOT NULL,
  threads         INTEGER NOT NULL,
  batch_size      INTEGER NOT NULL,
  repeats         INTEGER NOT NULL,
  arm_order       TEXT NOT NULL,                   -- interleaved or blocked
  shard           TEXT NOT NULL,                   -- 'I/N', or '' where not sharded
  commit_hash     TEXT NOT NULL,
  build_type      TEXT NOT NULL,
  prompt_hash     TEXT NOT NULL,
  argv            TEXT NOT NULL CHECK (json_valid(argv)),
  status          TEXT NOT NULL                    -- a killed run stays 'running'
                  CHECK (status IN ('running', 'done', 'failed')),
  started_utc     TEXT NOT NULL,
  ended_utc       TEXT
) STRICT;
CREATE INDEX run_invocation ON run (invocation, dataset_id);

-- Time belongs to a block: an ordered list of the same examples for all arms.
CREATE TABLE block (
  id             INTEGER PRIMARY KEY,
  run_id         INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  repeat         INTEGER NOT NULL,
  position       INTEGER NOT NULL,                 -- index in the run
  block_key      TEXT NOT NULL,                    -- hash of samples: equal for all arms
  samples        TEXT NOT NULL CHECK (json_valid(samples)),    -- keys in order
  example_count  INTEGER NOT NULL,
  arms           TEXT NOT NULL CHECK (json_valid(arms)),       -- labels in the order of measuring
  process        TEXT,                             -- uuid of the process that measured it whole
  wall_ns        INTEGER,                          -- NULL: not measured whole in one process
  passes         INTEGER,                          -- forward passes of the network
  job_passes     INTEGER,                          -- jobs in a pass, summed over passes
  stream_passes  INTEGER,                          -- answers or values that chose in it, summed
  cpu_ns         INTEGER,                          -- CPU time of the process meanwhile
  waited_ns      INTEGER,                          -- its threads were ready, others had the cores
  stolen_ns      INTEGER,                          -- cores taken by the host, or a quota
  mhz            REAL,                             -- mean clock of the cores at its end
  traced         INTEGER NOT NULL DEFAULT 0 CHECK (traced IN (0, 1)),
  UNIQUE (run_id, repeat, position),
  UNIQUE (run_id, repeat, block_key),
  CHECK ((process IS NULL) = (wall_ns IS NULL))
) STRICT;

-- A block measured once more, since something else had a share of the machine at the first time.
CREATE TABLE block_repair (
  block_id   INTEGER PRIMARY KEY REFERENCES block (id) ON DELETE CASCADE,
  process    TEXT NOT NULL,
  wall_ns    INTEGER NOT NULL,
  cpu_ns     INTEGER,
  waited_ns  INTEGER,
  stolen_ns  INTEGER,
  mhz        REAL
) STRICT;

-- What a decoder was given at once (a prompt, a stack of products): the unit of commit, retry and
-- shard, and what tokens, forwards and latency belong to.
CREATE TABLE job (
  id              INTEGER PRIMARY KEY,
  run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  block_id        INTEGER REFERENCES block (id) ON DELETE SET NULL,
  repeat          INTEGER NOT NULL,
  key             TEXT NOT NULL                    -- JSON: keys of its samples in order
                  CHECK (json_valid(key)),
  process         TEXT NOT NULL,                   -- uuid of the process that ran it
  attempts        INTEGER NOT NULL DEFAULT 1,
  error           TEXT,                            -- NULL when the job as a whole went well
  text            TEXT NOT NULL,                   -- the whole stream, where there is one
  tokens          TEXT NOT NULL,                   -- JSON: all chosen ids
  stop            TEXT NOT NULL,
  prompt_tokens   INTEGER NOT NULL,                -- tokens of the prompt that were fed
  chosen          INTEGER NOT NULL,                -- tokens the model chose, control ones included
  forced          INTEGER NOT NULL,                -- tokens fed, not chosen (skeleton, prefixes)
  fed             INTEGER NOT NULL,                -- rows fed, those of the prompt included
  text_tokens     INTEGER NOT NULL,                -- tokens chosen that carry answer text
  forwards        INTEGER NOT NULL,                -- passes that held a row of the job
  prefill_ns      INTEGER NOT NULL,                -- ns from the start to the first pass's end
  decode_ns       INTEGER NOT NULL,                -- ns from there to the end
  total_ns        INTEGER NOT NULL,                -- ns from the start to the end
  cached_peak     INTEGER NOT NULL,                -- rows alive after a step, at most
  cached_sum      INTEGER NOT NULL,                -- rows alive after a step, summed over steps
  attended        INTEGER NOT NULL,                -- keys seen, summed over all rows fed
  scratch         INTEGER NOT NULL,                -- rows fed and dropped again
  branches        INTEGER NOT NULL,                -- streams chosen side by side
  branch_lengths  TEXT NOT NULL,                   -- JSON: tokens chosen in each stream (HPD: K_r)
  parallel_ratio  REAL,                            -- tokens chosen in a pass, on average
  acceptance      TEXT,                            -- JSON: drafts and acceptances by position
  --   drafted: tokens guessed, by their place in a pass
  --   accepted: tokens of these that entered the answer
  --   draft_forwards: passes that made guesses, not among forwards
  --   draft_fed: rows fed in these passes, not among fed
  --   draft_ns: ns of these passes, each whole, whoever shared it
  unforced        TEXT,                            -- JSON, under an oracle: the network's own ids
  top2            TEXT,                            -- JSON: gap of the two best logits, by row
  text_attended   INTEGER NOT NULL DEFAULT 0,      -- tokens before each text token on its path
  parallel        TEXT,                            -- JSON: of decoders with parallel stages
  --   generated: tokens of the answer, control and forced ones too (ASPD: A)
  --   branch_tokens: tokens of these in branches (ASPD: B)
  --   groups: stages decoded in parallel
  --   group_branches: branches of all these stages
  --   parallel_ns: ns spent in these stages
  first_token_ns  INTEGER,                         -- ns from the start to the answer's first token
  turns           TEXT,                            -- JSON: of a conversation, each turn's counts
  UNIQUE (run_id, repeat, key)
) STRICT;
CREATE INDEX job_block ON job (block_id);

-- How often a forward of the job emitted so many tokens.
CREATE TABLE step_histogram (
  job_id    INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  emitted   INTEGER NOT NULL,
  forwards  INTEGER NOT NULL,
  PRIMARY KEY (job_id, emitted)
) STRICT, WITHOUT ROWID;

-- The answer to one example.
CREATE TABLE generation (
  id                 INTEGER PRIMARY KEY,
  run_id             INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  sample_id          INTEGER NOT NULL REFERENCES sample (id),
  repeat             INTEGER NOT NULL,
  job_id             INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
  text               TEXT NOT NULL,
  error              TEXT,                         -- NULL when all went well
  tokens             TEXT NOT NULL,                -- JSON: ids of this example's answer
  fields             TEXT NOT NULL,                -- JSON: [{"name", "text", "tokens", "stop", "no_value"}]
  field_count        INTEGER NOT NULL,
  stop               TEXT NOT NULL,
  identical          INTEGER CHECK (identical IN (0, 1)),  -- to the baseline's; NULL: not compared
  first_difference   INTEGER,                      -- index of the first token that differs
  gap_at_difference  REAL,                         -- between the two best logits there
  UNIQUE (run_id, sample_id, repeat)
) STRICT;
CREATE INDEX generation_job ON generation (job_id);
CREATE INDEX generation_sample ON generation (sample_id);

CREATE TABLE score (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  metric         TEXT NOT NULL,
  version        TEXT NOT NULL,                    -- of the metric's definition
  field          TEXT NOT NULL,                    -- '' for the whole example
  value          REAL,                             -- NULL with is_nan = 1: not a number
  is_nan         INTEGER NOT NULL CHECK (is_nan IN (0, 1)),
  details        TEXT,                             -- JSON: what the value comes from
  UNIQUE (generation_id, metric, field, version),
  CHECK ((value IS NULL) = is_nan)
) STRICT;

-- Forced tokens say nothing of quality.
CREATE TRIGGER score_not_under_oracle BEFORE INSERT ON score
WHEN (SELECT run.oracle FROM generation JOIN run ON run.id = generation.run_id
      WHERE generation.id = NEW.generation_id) IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a run under an oracle carries no score');
END;

-- Judges ------------------------------------------------------------------------------------------

-- A network behind a service, with its settings, or a person.
CREATE TABLE judge (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,                             -- the model's, or 'human:NAME'
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),    -- all that may change what it says; no key
  UNIQUE (name, hash)
) STRICT;

-- What judges are asked: wording, and schema of the verdict.
CREATE TABLE protocol (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  hash  TEXT NOT NULL,                             -- SHA-256 of json
  json  TEXT NOT NULL CHECK (json_valid(json)),
  UNIQUE (name, hash)
) STRICT;

-- Each request to a judge. It is here before it is sent.
CREATE TABLE judge_attempt (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,                -- uuid of the process that sent it
  call_key           TEXT NOT NULL,                -- SHA-256 of all that the reply depends on
  number             INTEGER NOT NULL,             -- of the call's attempts, from 1
  started_utc        TEXT NOT NULL,
  waited_s           REAL NOT NULL,                -- after the attempt before
  seconds            REAL NOT NULL,
  http_status        INTEGER NOT NULL,             -- 0: no answer came
  request_id         TEXT NOT NULL,
  format             TEXT NOT NULL,                -- json_schema, json_object+schema, json_object or text
  prompt_tokens      INTEGER,                      -- of an answer that is not counted: at most
  completion_tokens  INTEGER,                      -- the same, reasoning included
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,                      -- of the prompt's
  cost               REAL NOT NULL,                -- while its outcome is unknown: at most
  outcome_unknown    INTEGER NOT NULL CHECK (outcome_unknown IN (0, 1)),  -- perhaps paid for
  error              TEXT,                         -- NULL: an answer came
  body               TEXT,                         -- what came, where it is no answer
  UNIQUE (process, call_key, number)
) STRICT;

-- What came of a call in the end. It was paid for, and is kept where it holds no verdict, too.
CREATE TABLE judge_reply (
  id                 INTEGER PRIMARY KEY,
  judge_id           INTEGER NOT NULL REFERENCES judge (id),
  process            TEXT NOT NULL,
  call_key           TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('answered', 'refused', 'cut_short', 'failed')),
  text               TEXT NOT NULL,
  reason             TEXT NOT NULL,                -- of any other state than answered
  served_model       TEXT NOT NULL,                -- as the service names it
  prompt_tokens      INTEGER,
  completion_tokens  INTEGER,
  reasoning_tokens   INTEGER,
  cached_tokens      INTEGER,
  cost               REAL NOT NULL,
  valid              INTEGER NOT NULL CHECK (valid IN (0, 1)),  -- a verdict: not asked for again
  created_utc        TEXT NOT NULL,
  UNIQUE (process, call_key)
) STRICT;
CREATE INDEX judge_reply_call ON judge_reply (call_key);

-- One vote on one answer.
CREATE TABLE judgment (
  id             INTEGER PRIMARY KEY,
  generation_id  INTEGER NOT NULL REFERENCES generation (id) ON DELETE CASCADE,
  judge_id       INTEGER NOT NULL REFERENCES judge (id),
  protocol_id    INTEGER NOT NULL REFERENCES protocol (id),
  field          TEXT NOT NULL,                    -- '' for the whole example
  vote           INTEGER NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  class          TEXT,                             -- e.g. 'correct'; NULL unless scored
  value          REAL,
  reason         TEXT,                             -- NULL where scored
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
  field          TEXT NOT NULL,
  vote           INTEGER NOT NULL,
  method_first   INTEGER NOT NULL CHECK (method_first IN (0, 1)),  -- which was shown first
  state          TEXT NOT NULL CHECK (state IN ('scored', 'unscored', 'error', 'refused')),
  winner         TEXT CHECK (winner IN ('method', 'baseline', 'tie')),
  reason         TEXT,
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

-- Blocks whose time counts: measured whole in one process, and no job of them failed.
CREATE VIEW measured_block AS
SELECT block.* FROM block
WHERE wall_ns IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.block_id = block.id AND job.error IS NOT NULL);

-- One row a run. Sums are over jobs without error; measured_* over the jobs of measured blocks.
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
generations AS (
  SELECT run_id, count(*) AS generations, sum(error IS NOT NULL) AS failed_generations,
         count(identical) AS compared, sum(identical) AS identical
  FROM generation GROUP BY run_id),
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
SELECT run.id AS run_id, run.uuid, run.invocation, run.label, run.decoder, run.baseline,
       dataset.name AS dataset, dataset.split, dataset.is_sample, dataset.is_standin,
       model.path AS model,
       run.oracle, run.untrained, run.device, run.dtype, run.batch_size, run.build_type,
       run.status, run.started_utc, run.ended_utc,
       coalesce(jobs, 0) AS jobs,
       coalesce(failed_jobs, 0) AS failed_jobs,
       coalesce(generations, 0) AS generations,
       coalesce(failed_generations, 0) AS failed_generations,
       coalesce(compared, 0) AS compared,
       coalesce(identical, 0) AS identical,
       coalesce(blocks, 0) AS blocks,
       coalesce(measured_blocks, 0) AS measured_blocks,
       coalesce(measured_wall_ns, 0) AS measured_wall_ns,
       coalesce(measured_examples, 0) AS measured_examples,
       coalesce(measured_fields, 0) AS measured_fields,
       coalesce(measured_chosen, 0) AS measured_chosen,
       coalesce(measured_text_tokens, 0) AS measured_text_tokens,
       1e9 * measured_examples / nullif(measured_wall_ns, 0) AS examples_per_s,
       1e9 * measured_fields / nullif(measured_wall_ns, 0) AS fields_per_s,
       coalesce(prompt_tokens, 0) AS prompt_tokens,
       coalesce(chosen, 0) AS chosen,
       coalesce(forced, 0) AS forced,
       coalesce(fed, 0) AS fed,
       coalesce(text_tokens, 0) AS text_tokens,
       coalesce(text_attended, 0) AS text_attended,
       coalesce(forwards, 0) AS forwards,
       1.0 * chosen / nullif(forwards, 0) AS chosen_per_forward,
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
JOIN dataset ON dataset.id = run.dataset_id
JOIN model ON model.id = run.model_id
LEFT JOIN counted ON counted.run_id = run.id
LEFT JOIN totals ON totals.run_id = run.id
LEFT JOIN generations ON generations.run_id = run.id
LEFT JOIN blocks ON blocks.run_id = run.id
LEFT JOIN measured ON measured.run_id = run.id
LEFT JOIN measured_jobs ON measured_jobs.run_id = run.id
LEFT JOIN measured_generations ON measured_generations.run_id = run.id;

-- A run and the run that it is compared with: same invocation, dataset, model and shard.
CREATE VIEW run_pair AS
SELECT base.id AS baseline_run, run.id AS run_id, base.label AS baseline, run.label AS label,
       run.dataset_id, run.invocation
FROM run
JOIN run AS base ON base.invocation = run.invocation AND base.dataset_id = run.dataset_id
                AND base.model_id = run.model_id AND base.shard = run.shard
                AND base.label = run.baseline AND base.id <> run.id;

-- Blocks that one process measured whole for both. speedup > 1: the arm is the faster one.
CREATE VIEW speedup_pairs AS
SELECT run_pair.baseline_run, run_pair.run_id, run_pair.baseline, run_pair.label,
       dataset.name AS dataset, method.repeat, method.block_key, method.process,
       method.example_count, base.wall_ns AS baseline_ns, method.wall_ns AS method_ns,
       1.0 * base.wall_ns / method.wall_ns AS speedup
FROM run_pair
JOIN dataset ON dataset.id = run_pair.dataset_id
JOIN measured_block AS method ON method.run_id = run_pair.run_id
JOIN measured_block AS base ON base.run_id = run_pair.baseline_run
                           AND base.repeat = method.repeat
                           AND base.block_key = method.block_key
                           AND base.process = method.process;

-- One metric of one example by both.
CREATE VIEW quality_pairs AS
SELECT run_pair.baseline_run, run_pair.run_id, run_pair.baseline, run_pair.label,
       dataset.name AS dataset, sample.key AS sample, sample.cluster, sample.category,
       method.repeat, method_score.metric, method_score.version, method_score.field,
       base_score.value AS baseline_value, method_score.value AS method_value, method.identical
FROM run_pair
JOIN dataset ON dataset.id = run_pair.dataset_id
JOIN generation AS method ON method.run_id = run_pair.run_id
JOIN generation AS base ON base.run_id = run_pair.baseline_run
                       AND base.sample_id = method.sample_id
                       AND base.repeat = method.repeat
JOIN sample ON sample.id = method.sample_id
JOIN score AS method_score ON method_score.generation_id = method.id
JOIN score AS base_score ON base_score.generation_id = base.id
                        AND base_score.metric = method_score.metric
                        AND base_score.version = method_score.version
                        AND base_score.field = method_score.field;

-- One row a run and metric (NULL where a run has none): speed, identity and quality side by side.
CREATE VIEW paper_table AS
WITH speed AS (
  SELECT run_id, count(*) AS block_pairs, 1.0 * sum(baseline_ns) / sum(method_ns) AS speedup
  FROM speedup_pairs GROUP BY run_id),
quality AS (
  SELECT generation.run_id, metric, version, avg(value) AS mean, count(value) AS scored,
         sum(is_nan) AS not_a_number
  FROM score JOIN generation ON generation.id = score.generation_id
  GROUP BY generation.run_id, metric, version)
SELECT summary.run_id, summary.model, summary.dataset, summary.split, summary.is_sample,
       summary.is_standin, summary.label, summary.decoder, summary.oracle, summary.untrained, summary.build_type,
       summary.baseline, summary.examples_per_s, summary.fields_per_s,
       summary.chosen_per_forward, speed.speedup, speed.block_pairs,
       1.0 * summary.identical / nullif(summary.compared, 0) AS identical_share,
       summary.generations, summary.failed_generations, quality.metric, quality.version,
       quality.mean, quality.scored, quality.not_a_number
FROM run_summary AS summary
LEFT JOIN speed ON speed.run_id = summary.run_id
LEFT JOIN quality ON quality.run_id = summary.run_id;
