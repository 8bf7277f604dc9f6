// Copies runs between databases by their natural keys, since ids differ between files.
#include "src/store/counter_columns.hpp"
#include "src/store/store.hpp"
#include "src/store/views.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Rows that runs refer to.
constexpr char kReferred[] = R"(
INSERT INTO main.experiment (name, hash, json)
  SELECT name, hash, json FROM other.experiment WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.environment (hash, json)
  SELECT hash, json FROM other.environment WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.model (path, hash, stamp, shape)
  SELECT path, hash, stamp, shape FROM other.model WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.dataset (name, split, sha256, is_sample, is_standin)
  SELECT name, split, sha256, is_sample, is_standin FROM other.dataset WHERE true ON CONFLICT DO NOTHING;

CREATE TEMP TABLE map_model AS SELECT theirs.id AS old, ours.id AS new
  FROM other.model AS theirs JOIN main.model AS ours USING (path, hash);
CREATE TEMP TABLE map_dataset AS SELECT theirs.id AS old, ours.id AS new
  FROM other.dataset AS theirs
  JOIN main.dataset AS ours USING (name, split, sha256, is_sample, is_standin);
INSERT INTO main.sample (dataset_id, key, cluster, category, text, fields)
  SELECT new, key, cluster, category, text, fields
  FROM other.sample JOIN temp.map_dataset ON old = dataset_id WHERE true ON CONFLICT DO NOTHING;
CREATE TEMP TABLE map_sample (old INTEGER PRIMARY KEY, new INTEGER);
INSERT INTO temp.map_sample SELECT theirs.id, ours.id
  FROM other.sample AS theirs JOIN temp.map_dataset AS map ON map.old = theirs.dataset_id
  JOIN main.sample AS ours ON ours.dataset_id = map.new AND ours.key = theirs.key;
)";

/// Columns that are copied as they are.
constexpr char kRunColumns[] =
    "uuid, invocation, label, decoder, options, form, baseline, config, config_hash, oracle, "
    "untrained, seed, device, dtype, threads, batch_size, repeats, arm_order, shard, commit_hash, "
    "build_type, prompt_hash, argv, status, started_utc, ended_utc";
std::string job_columns() {
  return "process, attempts, error, text, tokens, stop, unforced, top2, turns, " + counter_names();
}
constexpr char kGenerationColumns[] =
    "repeat, text, error, tokens, fields, field_count, stop, identical, first_difference, "
    "gap_at_difference";

/// Whether a block was not measured by all arms in one process. This is the case while a run is in
/// progress, and if it was merged before its end.
std::string torn_sql(const std::string& database, const std::string& block) {
  return str("EXISTS (SELECT 1 FROM ", database, ".run AS own JOIN ", database,
             ".run AS run ON run.invocation = own.invocation AND run.dataset_id = own.dataset_id",
             " JOIN ", database, ".block AS other_arm ON other_arm.run_id = run.id AND ",
             "other_arm.repeat = ", block, ".repeat AND other_arm.block_key = ", block,
             ".block_key WHERE own.id = ", block, ".run_id AND (other_arm.process IS NULL OR ",
             block, ".process IS NULL OR other_arm.process <> ", block, ".process))");
}

/// Processes, with their machines.
constexpr char kProcesses[] = R"(
INSERT INTO main.process (uuid, host, environment_id)
  SELECT uuid, host, ours.id FROM other.process
  JOIN other.environment AS theirs ON theirs.id = environment_id
  JOIN main.environment AS ours USING (hash)
  WHERE true ON CONFLICT DO NOTHING)";

/// Inserts the runs of an invocation, or all (''), that are not here.
std::string new_runs_sql() {
  return str("INSERT INTO main.run (experiment_id, environment_id, dataset_id, model_id, ",
             "draft_model_id, ", kRunColumns, ")", R"(
  SELECT (SELECT ours.id FROM main.experiment AS ours
          JOIN other.experiment AS theirs USING (name, hash) WHERE theirs.id = experiment_id),
         (SELECT ours.id FROM main.environment AS ours
          JOIN other.environment AS theirs USING (hash) WHERE theirs.id = environment_id),
         (SELECT new FROM temp.map_dataset WHERE old = dataset_id),
         (SELECT new FROM temp.map_model WHERE old = model_id),
         (SELECT new FROM temp.map_model WHERE old = draft_model_id), )",
             kRunColumns, R"(
  FROM other.run WHERE ?1 IN ('', invocation) ON CONFLICT DO NOTHING)");
}

/// Updates runs, independent of the order of merging. A run is done if it is done in either file.
/// If it is done in neither, the more advanced state counts.
constexpr char kRuns[] = R"(
CREATE TEMP TABLE map_run AS SELECT theirs.id AS old, ours.id AS new
  FROM other.run AS theirs JOIN main.run AS ours USING (uuid);
UPDATE main.run SET status = theirs.status, ended_utc = theirs.ended_utc
  FROM temp.map_run AS map JOIN other.run AS theirs ON theirs.id = map.old
  WHERE run.id = map.new
    AND ((theirs.status = 'done', coalesce(theirs.ended_utc, ''))
           > (run.status = 'done', coalesce(run.ended_utc, ''))
         OR (run.status <> 'done' AND theirs.status <> 'done'
             AND ((SELECT count(*) FROM other.job WHERE run_id = theirs.id), theirs.status)
                   > ((SELECT count(*) FROM main.job WHERE run_id = run.id), run.status)));
UPDATE main.model SET stamp = theirs.stamp, shape = theirs.shape
  FROM temp.map_model AS map JOIN other.model AS theirs ON theirs.id = map.old
  WHERE model.id = map.new
    AND (length(theirs.shape), theirs.shape) > (length(model.shape), model.shape);
INSERT INTO main.artifact (run_id, kind, path, sha256)
  SELECT new, kind, path, sha256 FROM other.artifact JOIN temp.map_run ON old = run_id
  WHERE true ON CONFLICT DO NOTHING;
)";

/// Blocks with their times. The time of a block is already removed if one of its jobs was replaced
/// by a better one.
/// `their_block`: the other file's table, with all columns (view_all_columns).
std::string blocks_sql() {
  return str(R"(
INSERT INTO main.block (run_id, repeat, position, block_key, samples, example_count, arms, process,
                        wall_ns, passes, job_passes, stream_passes, experts_read, cpu_ns,
                        waited_ns, stolen_ns, mhz, traced, load)
  SELECT new, repeat, position, block_key, samples, example_count, arms, process, wall_ns,
         passes, job_passes, stream_passes, experts_read, cpu_ns, waited_ns, stolen_ns, mhz, traced,
         load
  FROM temp.their_block JOIN temp.map_run ON old = run_id WHERE true ON CONFLICT DO NOTHING;
CREATE TEMP TABLE map_block (old INTEGER PRIMARY KEY, new INTEGER);
INSERT INTO temp.map_block SELECT theirs.id, ours.id
  FROM other.block AS theirs JOIN temp.map_run AS map ON map.old = theirs.run_id
  JOIN main.block AS ours ON ours.run_id = map.new AND ours.repeat = theirs.repeat
                         AND ours.block_key = theirs.block_key;

CREATE TEMP TABLE better_block AS SELECT ours.id AS new, theirs.id AS old
  FROM temp.map_block AS map JOIN main.block AS ours ON ours.id = map.new
  JOIN other.block AS theirs ON theirs.id = map.old
  WHERE theirs.wall_ns IS NOT NULL AND )",
             torn_sql("main", "ours"), " AND NOT ", torn_sql("other", "theirs"), R"(;
UPDATE main.block SET process = theirs.process, wall_ns = theirs.wall_ns,
    passes = theirs.passes, job_passes = theirs.job_passes,
    stream_passes = theirs.stream_passes, experts_read = theirs.experts_read,
    cpu_ns = theirs.cpu_ns, waited_ns = theirs.waited_ns, stolen_ns = theirs.stolen_ns,
    mhz = theirs.mhz, traced = theirs.traced, load = theirs.load
  FROM temp.better_block AS better JOIN temp.their_block AS theirs ON theirs.id = better.old
  WHERE block.id = better.new;
DELETE FROM main.block_repair WHERE block_id IN (SELECT new FROM temp.better_block);
INSERT INTO main.block_repair (block_id, process, wall_ns, cpu_ns, waited_ns, stolen_ns, mhz)
  SELECT new, process, wall_ns, cpu_ns, waited_ns, stolen_ns, mhz
  FROM other.block_repair JOIN temp.map_block ON old = block_id
  WHERE true ON CONFLICT DO NOTHING;
)");
}

/// The other file's jobs, by their natural keys.
constexpr char kJobNames[] = R"(
CREATE TEMP TABLE their_job (id INTEGER PRIMARY KEY, run_id, repeat, key);
INSERT INTO temp.their_job SELECT theirs.id, map.new, repeat, key
  FROM other.job AS theirs JOIN temp.map_run AS map ON map.old = theirs.run_id;
)";

/// Failed jobs here that have fewer errors in the other file; they are replaced, as by a retry.
constexpr char kWorse[] = R"(
SELECT ours.id FROM main.job AS ours
JOIN temp.their_job AS named ON named.run_id = ours.run_id AND named.repeat = ours.repeat
                            AND named.key = ours.key
JOIN other.job AS theirs ON theirs.id = named.id
WHERE (ours.error IS NOT NULL) + (SELECT count(*) FROM main.generation AS g
                                  WHERE g.job_id = ours.id AND g.error IS NOT NULL)
    > (theirs.error IS NOT NULL) + (SELECT count(*) FROM other.generation AS g
                                    WHERE g.job_id = theirs.id AND g.error IS NOT NULL))";

/// Jobs that are not here, with all their rows.
std::string jobs_sql() {
  const std::string columns = job_columns();
  return str(R"(
UPDATE main.job SET attempts = max(job.attempts, theirs.attempts)
  FROM temp.their_job AS named JOIN other.job AS theirs ON theirs.id = named.id
  WHERE job.run_id = named.run_id AND job.repeat = named.repeat AND job.key = named.key;
DELETE FROM temp.their_job WHERE EXISTS (
  SELECT 1 FROM main.job AS ours WHERE ours.run_id = their_job.run_id
    AND ours.repeat = their_job.repeat AND ours.key = their_job.key);
INSERT INTO main.job (run_id, block_id, repeat, key, )",
             columns, R"()
  SELECT fresh.run_id, (SELECT new FROM temp.map_block AS map WHERE map.old = block_id),
         fresh.repeat, fresh.key, )",
             columns, R"(
  FROM other.job AS theirs JOIN temp.their_job AS fresh USING (id) ORDER BY theirs.id;
CREATE TEMP TABLE map_job (old INTEGER PRIMARY KEY, new INTEGER);
INSERT INTO temp.map_job SELECT fresh.id, ours.id
  FROM temp.their_job AS fresh JOIN main.job AS ours USING (run_id, repeat, key);
INSERT INTO main.step_histogram (job_id, emitted, forwards)
  SELECT new, emitted, forwards FROM other.step_histogram JOIN temp.map_job ON old = job_id;

INSERT INTO main.generation (run_id, sample_id, job_id, )",
             kGenerationColumns, R"()
  SELECT run.new, sample.new, job.new, )",
             kGenerationColumns, R"(
  FROM other.generation AS theirs JOIN temp.map_job AS job ON job.old = job_id
  JOIN temp.map_run AS run ON run.old = run_id
  JOIN temp.map_sample AS sample ON sample.old = sample_id
  ORDER BY theirs.id;
CREATE TEMP TABLE map_generation (old INTEGER PRIMARY KEY, new INTEGER);
INSERT INTO temp.map_generation SELECT theirs.id, ours.id
  FROM other.generation AS theirs JOIN temp.map_run AS run ON run.old = theirs.run_id
  JOIN temp.map_sample AS sample ON sample.old = theirs.sample_id
  JOIN main.generation AS ours ON ours.run_id = run.new AND ours.sample_id = sample.new
                              AND ours.repeat = theirs.repeat
  WHERE ours.text = theirs.text AND ours.tokens = theirs.tokens;
UPDATE main.generation SET identical = theirs.identical,
    first_difference = theirs.first_difference, gap_at_difference = theirs.gap_at_difference
  FROM temp.map_generation AS map JOIN other.generation AS theirs ON theirs.id = map.old
  WHERE generation.id = map.new AND generation.identical IS NULL AND theirs.identical IS NOT NULL;

CREATE TEMP TABLE judged AS
  SELECT DISTINCT run_id, metric, json_extract(details, '$.judge_hash') AS judge,
                  json_extract(details, '$.protocol_hash') AS protocol
  FROM main.generation CROSS JOIN main.score ON generation_id = generation.id
  WHERE metric GLOB 'judge_*' AND run_id IN (  -- most files have no judged scores
    SELECT ours.run_id FROM other.score AS theirs JOIN temp.map_generation ON old = generation_id
    JOIN main.generation AS ours ON ours.id = new WHERE theirs.metric GLOB 'judge_*');
INSERT INTO main.score (generation_id, metric, version, field, value, is_nan, details)
  SELECT new, metric, version, field, value, is_nan, details
  FROM other.score AS theirs JOIN temp.map_generation ON old = generation_id
  WHERE metric NOT GLOB 'judge_*' OR NOT EXISTS (
    -- A judged score is of one judge, also of a run that each file has from another one.
    SELECT 1 FROM temp.judged AS ours JOIN main.generation AS answer ON answer.id = new
    WHERE ours.run_id = answer.run_id AND ours.metric = theirs.metric
      AND (ours.judge IS NOT json_extract(theirs.details, '$.judge_hash')
           OR ours.protocol IS NOT json_extract(theirs.details, '$.protocol_hash')))
  ON CONFLICT DO NOTHING;
DROP TABLE temp.judged;
)");
}

/// Judges, protocols, and their replies and votes.
constexpr char kJudges[] = R"(
INSERT INTO main.judge (name, hash, json)
  SELECT name, hash, json FROM other.judge WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.protocol (name, hash, json)
  SELECT name, hash, json FROM other.protocol WHERE true ON CONFLICT DO NOTHING;
CREATE TEMP TABLE map_judge AS SELECT theirs.id AS old, ours.id AS new
  FROM other.judge AS theirs JOIN main.judge AS ours USING (name, hash);
CREATE TEMP TABLE map_protocol AS SELECT theirs.id AS old, ours.id AS new
  FROM other.protocol AS theirs JOIN main.protocol AS ours USING (name, hash);
INSERT INTO main.judge_attempt (judge_id, process, call_key, number, started_utc, waited_s, seconds,
                                http_status, request_id, format, prompt_tokens, completion_tokens,
                                reasoning_tokens, cached_tokens, cost, outcome_unknown, error, body)
  SELECT new, process, call_key, number, started_utc, waited_s, seconds, http_status, request_id,
         format, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, cost,
         outcome_unknown, error, body
  FROM other.judge_attempt JOIN temp.map_judge ON old = judge_id
  WHERE true ON CONFLICT DO UPDATE SET
    seconds = excluded.seconds, http_status = excluded.http_status,
    request_id = excluded.request_id, format = excluded.format,
    prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
    reasoning_tokens = excluded.reasoning_tokens, cached_tokens = excluded.cached_tokens,
    cost = excluded.cost, outcome_unknown = excluded.outcome_unknown, error = excluded.error,
    body = excluded.body
  WHERE judge_attempt.outcome_unknown AND NOT excluded.outcome_unknown;
INSERT INTO main.judge_reply (judge_id, process, call_key, state, text, reason, served_model,
                              prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens,
                              cost, valid, created_utc)
  SELECT new, process, call_key, state, text, reason, served_model, prompt_tokens,
         completion_tokens, reasoning_tokens, cached_tokens, cost, valid, created_utc
  FROM other.judge_reply JOIN temp.map_judge ON old = judge_id WHERE true ON CONFLICT DO NOTHING;
CREATE TEMP TABLE map_reply AS SELECT theirs.id AS old, ours.id AS new
  FROM other.judge_reply AS theirs JOIN main.judge_reply AS ours USING (process, call_key);
INSERT INTO main.judgment (generation_id, judge_id, protocol_id, field, vote, state, class, value,
                           reason, reply_id)
  SELECT judged.new, judge.new, protocol.new, field, vote, state, class, value, reason,
         (SELECT new FROM temp.map_reply AS reply WHERE reply.old = reply_id)
  FROM other.judgment JOIN temp.map_generation AS judged ON judged.old = generation_id
  JOIN temp.map_judge AS judge ON judge.old = judge_id
  JOIN temp.map_protocol AS protocol ON protocol.old = protocol_id
  WHERE true ON CONFLICT DO UPDATE SET
    state = excluded.state, class = excluded.class, value = excluded.value,
    reason = excluded.reason, reply_id = excluded.reply_id
  WHERE (excluded.state = 'scored') + (excluded.state <> 'error')
          > (judgment.state = 'scored') + (judgment.state <> 'error');
INSERT INTO main.comparison (generation_id, baseline_id, judge_id, protocol_id, field, vote,
                             method_first, state, winner, reason, reply_id)
  SELECT judged.new, baseline.new, judge.new, protocol.new, field, vote, method_first, state,
         winner, reason, (SELECT new FROM temp.map_reply AS reply WHERE reply.old = reply_id)
  FROM other.comparison JOIN temp.map_generation AS judged ON judged.old = generation_id
  JOIN temp.map_generation AS baseline ON baseline.old = baseline_id
  JOIN temp.map_judge AS judge ON judge.old = judge_id
  JOIN temp.map_protocol AS protocol ON protocol.old = protocol_id
  WHERE true ON CONFLICT DO UPDATE SET
    state = excluded.state, winner = excluded.winner, reason = excluded.reason,
    reply_id = excluded.reply_id
  WHERE (excluded.state = 'scored') + (excluded.state <> 'error')
          > (comparison.state = 'scored') + (comparison.state <> 'error');
DROP TABLE temp.map_judge; DROP TABLE temp.map_protocol; DROP TABLE temp.map_reply;
)";

/// Names and notes: a run keeps its name here, and takes the name from the other file if it has
/// none here. If another run here has that name, a number is added to it, and `said` gets a
/// message.
void merge_names(Database& db, std::vector<std::string>& said) {
  db.execute(R"(
INSERT INTO main.invocation (uuid, note) SELECT uuid, note FROM other.invocation
  WHERE true ON CONFLICT DO UPDATE SET note = excluded.note WHERE invocation.note = '')");
  std::vector<std::pair<std::string, std::string>> names;  // names of runs that have no name here
  {
    Statement find(db,
                   "SELECT uuid, theirs.name FROM other.invocation AS theirs JOIN main.invocation "
                   "AS ours USING (uuid) WHERE theirs.name IS NOT NULL AND ours.name IS NULL");
    while (find.step()) names.emplace_back(find.text(0), find.text(1));
  }
  for (const auto& [invocation, theirs] : names) {
    std::string name = theirs;
    for (int number = 2; db.integer("SELECT count(*) FROM main.invocation WHERE name = ?", name);
         ++number)
      name = str(theirs, " (", number, ")");
    db.run("UPDATE main.invocation SET name = ? WHERE uuid = ?", name, invocation);
    if (name != theirs)
      said.push_back(str("run ", invocation.substr(0, 8), " is named '", name,
                         "' here: another one has the name '", theirs, "'"));
  }
}

constexpr char kDropMaps[] = R"(
DROP TABLE temp.map_model; DROP TABLE temp.map_dataset; DROP TABLE temp.map_sample;
DROP TABLE temp.map_run; DROP TABLE temp.map_block; DROP TABLE temp.their_job;
DROP TABLE temp.map_job; DROP TABLE temp.map_generation; DROP TABLE temp.better_block;
DROP VIEW temp.their_block;
)";

/// Detaches the other file, also after an error.
struct Attached {
  Attached(Database& database, const std::string& path) : db(database) {
    db.run("ATTACH ? AS other", path);
  }
  ~Attached() { sqlite3_exec(db.handle(), "DETACH other", nullptr, nullptr, nullptr); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  Database& db;
};

}  // namespace

std::vector<std::string> Store::merge(const std::filesystem::path& other,
                                      const std::string& invocation) {
  std::error_code error;
  if (std::filesystem::equivalent(other, path_, error)) {
    throw StoreError(other.string(), "is the database that is merged into; give another file", 2);
  }
  { Store check(other, {.read_only = true}); }  // throws if that file is not valid
  Attached attached(db_, other.string());
  Transaction transaction(db_);
  db_.execute(kReferred);
  if (db_.integer("SELECT count(*) FROM other.sqlite_schema WHERE name = 'process'") > 0)
    db_.execute(kProcesses);  // a file of an older pardec has none
  db_.run(new_runs_sql(), invocation);
  db_.execute(kRuns);
  db_.execute(kJobNames);
  std::vector<RowId> worse;
  {
    Statement find(db_, kWorse);
    while (find.step()) worse.push_back(find.integer(0));
  }
  for (const RowId job : worse) drop_job(job);
  view_all_columns(db_, "other", "block", "their_block");
  db_.execute(blocks_sql());
  db_.execute(jobs_sql());
  db_.execute(kJudges);
  std::vector<std::string> said;
  merge_names(db_, said);
  db_.execute(kDropMaps);
  transaction.commit();
  check_place();
  return said;
}

}  // namespace pardec
