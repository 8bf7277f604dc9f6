// Blocks, and the commit of a job with all its rows.
#include <algorithm>
#include <cmath>

#include "src/store/counter_columns.hpp"
#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

std::string fields_json(const std::vector<FieldAnswer>& fields) {
  OrderedJson out = OrderedJson::array();
  for (const FieldAnswer& field : fields) {
    OrderedJson item;
    item["name"] = field.name;
    item["text"] = field.text;
    item["tokens"] = field.tokens;
    item["stop"] = field.stop;
    if (field.no_value) item["no_value"] = true;
    if (field.thought) {
      item["thought"] = {{"tokens", field.thought->tokens}, {"bytes", field.thought->bytes}};
      if (field.thought->open) item["thought"]["open"] = true;
    }
    out.push_back(std::move(item));
  }
  return dump(out);
}

/// Ranks outcomes: a failed job is worse than a job whose answers all failed.
std::int64_t count_errors(const JobRow& job, std::span<const GenerationRow> generations) {
  std::int64_t errors = job.error ? 1 : 0;
  for (const GenerationRow& generation : generations) errors += job.error || generation.error;
  return errors;
}

/// One parameter per name, e.g. "?, ?, ?".
std::string placeholders(std::string_view names) {
  std::string out = "?";
  for (auto _ = std::count(names.begin(), names.end(), ','); _ > 0; --_) out += ", ?";
  return out;
}

RowId insert_job(Database& db, const JobRow& job, std::int64_t attempts) {
  Json turns;
  for (const Counts& turn : job.turns) turns.push_back(turn_json(turn));
  const std::string columns =
      str("run_id, block_id, repeat, key, process, attempts, error, text, tokens, stop, unforced, "
          "top2, "
          "turns, ",
          counter_names());
  Statement insert(db, str("INSERT INTO job (", columns, ") VALUES (", placeholders(columns), ")"));
  insert.bind(job.run, job.block ? std::optional(job.block) : std::nullopt, job.repeat,
              dump(Json(job.key)), job.process, attempts, job.error, job.text,
              dump(Json(job.tokens)), job.stop, job.unforced, job.top2, turns);
  bind_counters(insert, job.counters, /*failed=*/job.error.has_value());
  insert.step();
  const RowId id = sqlite3_last_insert_rowid(db.handle());
  Statement histogram(db,
                      "INSERT INTO step_histogram (job_id, emitted, forwards) VALUES (?, ?, ?)");
  for (const auto& [emitted, forwards] : job.counters.emitted)
    histogram.bind(id, emitted, forwards).step();
  return id;
}

void insert_scores(Database& db, RowId generation, std::span<const ScoreRow> scores) {
  if (scores.empty()) return;
  Statement insert(db, R"(
    INSERT INTO score (generation_id, metric, version, field, value, is_nan, details)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (generation_id, metric, field, version)
    DO UPDATE SET value = excluded.value, is_nan = excluded.is_nan, details = excluded.details)");
  for (const ScoreRow& score : scores) {
    const bool nan = std::isnan(score.value);
    insert.bind(generation, score.metric, score.version, score.field,
                nan ? std::nullopt : std::optional(score.value), nan, score.details);
    insert.step();
  }
}

RowId find_sample(Database& db, RowId run, const std::string& key) {
  const RowId id = db.integer(
      "SELECT sample.id FROM sample JOIN run USING (dataset_id) "
      "WHERE run.id = ? AND sample.key = ?",
      run, key);
  if (id == 0) {
    throw StoreError(
        db.path().string(),
        str("the dataset of run ", run, " has no sample '", key, "'; put_samples comes first"), 1);
  }
  return id;
}

void insert_generation(Database& db, const JobRow& job, RowId job_id,
                       const GenerationRow& generation) {
  const std::optional<Identity>& same = generation.identity;
  db.run(
      R"(
      INSERT INTO generation (run_id, sample_id, repeat, job_id, text, error, tokens, fields,
                              field_count, stop, identical, first_difference, gap_at_difference)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?))",
      job.run, find_sample(db, job.run, generation.sample), job.repeat, job_id, generation.text,
      generation.error ? generation.error : job.error, dump(Json(generation.tokens)),
      fields_json(generation.fields), static_cast<std::int64_t>(generation.fields.size()),
      generation.stop, same ? std::optional(same->identical) : std::nullopt,
      same ? same->first_difference : std::nullopt, same ? same->gap : std::nullopt);
  insert_scores(db, sqlite3_last_insert_rowid(db.handle()), generation.scores);
}

}  // namespace

std::string block_key(const std::vector<std::string>& samples) {
  return sha256(dump(Json(samples)));
}

RowId Store::begin_block(const BlockRow& block) {
  check_place();
  Transaction transaction(db_);
  const std::string key = block_key(block.samples);
  Statement find(
      db_, "SELECT id, block_key FROM block WHERE run_id = ? AND repeat = ? AND position = ?");
  if (find.bind(block.run, block.repeat, block.position).step()) {
    if (find.text(1) != key) {
      throw StoreError(path_.string(),
                       str("block ", block.position, " of run ", block.run,
                           " is there with other examples, expected [", join(block.samples, ", "),
                           "]; start a new run"),
                       2);
    }
    return find.integer(0);
  }
  db_.run(
      "INSERT INTO block (run_id, repeat, position, block_key, samples, example_count, arms) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
      block.run, block.repeat, block.position, key, dump(Json(block.samples)),
      static_cast<std::int64_t>(block.samples.size()), dump(Json(block.arm_order)));
  const RowId id = sqlite3_last_insert_rowid(db_.handle());
  transaction.commit();
  return id;
}

Committed Store::commit_job(const JobRow& job, std::span<const GenerationRow> generations) {
  try {
    const Committed committed = put_job(job, generations);
    check_place();
    return committed;
  } catch (const StoreError&) {
    if (!saved_) check_place();  // a moved file has no log, so writing to it fails
    throw;
  }
}

Committed Store::put_job(const JobRow& job, std::span<const GenerationRow> generations) {
  Transaction transaction(db_);
  Statement find(db_, R"(
    SELECT id, attempts, (error IS NOT NULL)
           + (SELECT count(*) FROM generation
              WHERE job_id = job.id AND generation.error IS NOT NULL)
    FROM job WHERE run_id = ? AND repeat = ? AND key = ?)");
  std::int64_t attempts = 1;
  const bool known = find.bind(job.run, job.repeat, dump(Json(job.key))).step();
  if (known) {
    RowReader row(find);
    const RowId old = row.integer();
    attempts = row.integer() + 1;
    const std::int64_t old_errors = row.integer();
    if (old_errors == 0) return Committed::kept;
    // The old errors are kept until a retry has fewer.
    if (count_errors(job, generations) >= old_errors) {
      db_.run("UPDATE job SET attempts = ? WHERE id = ?", attempts, old);
      transaction.commit();
      return Committed::kept;
    }
    drop_job(old);
  }
  const RowId id = insert_job(db_, job, attempts);
  for (const GenerationRow& generation : generations) insert_generation(db_, job, id, generation);
  transaction.commit();
  return known ? Committed::replaced : Committed::inserted;
}

void Store::drop_job(RowId job) {
  db_.run(
      R"(
      UPDATE block SET process = NULL, wall_ns = NULL, passes = NULL, job_passes = NULL,
                       stream_passes = NULL, experts_read = NULL, cpu_ns = NULL, waited_ns = NULL,
                       stolen_ns = NULL, mhz = NULL, traced = 0, load = NULL
      WHERE id = (SELECT block_id FROM job WHERE id = ?))",
      job);
  db_.run("DELETE FROM block_repair WHERE block_id = (SELECT block_id FROM job WHERE id = ?)", job);
  db_.run(
      R"(
      UPDATE generation SET identical = NULL, first_difference = NULL, gap_at_difference = NULL
      FROM (SELECT run_pair.run_id, old.sample_id, old.repeat
            FROM generation AS old JOIN run_pair ON run_pair.baseline_run = old.run_id
            WHERE old.job_id = ?) AS stale
      WHERE generation.run_id = stale.run_id AND generation.sample_id = stale.sample_id
        AND generation.repeat = stale.repeat)",
      job);
  db_.run("DELETE FROM job WHERE id = ?", job);
}

bool Store::finish_block(RowId block, const std::string& process, std::int64_t wall_ns,
                         const BlockOccupancy& occupancy, const Json& load, const BlockUse& use) {
  Transaction transaction(db_);
  db_.run(
      R"(
      UPDATE block SET process = ?2, wall_ns = ?3, passes = ?4, job_passes = ?5, stream_passes = ?6,
                       experts_read = ?7, cpu_ns = ?8, waited_ns = ?9, stolen_ns = ?10, mhz = ?11,
                       traced = ?12, load = ?13
      WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM job WHERE block_id = ?1 AND error IS NOT NULL)
        AND example_count = (
          SELECT count(*) FROM generation JOIN job ON job.id = job_id WHERE block_id = ?1))",
      block, process, wall_ns, occupancy.passes, occupancy.job_passes, occupancy.stream_passes,
      occupancy.experts_read, use.machine.cpu_ns, use.machine.waited_ns, use.machine.stolen_ns,
      use.machine.mhz, use.traced, load.is_null() ? std::nullopt : std::optional(dump(load)));
  const bool stored = sqlite3_changes(db_.handle()) == 1;
  if (stored) db_.run("DELETE FROM block_repair WHERE block_id = ?", block);
  transaction.commit();
  return stored;
}

std::vector<Json> Store::loads_of(RowId run) {
  std::vector<Json> loads;
  Statement find(db_,
                 "SELECT load FROM block WHERE run_id = ? AND load IS NOT NULL AND wall_ns IS NOT "
                 "NULL ORDER BY repeat, position");
  find.bind(run);
  while (find.step()) loads.push_back(find.json(0));
  return loads;
}

void Store::repair_block(RowId block, const std::string& process, std::int64_t wall_ns,
                         const MachineUse& use) {
  db_.run(
      R"(
      INSERT INTO block_repair (block_id, process, wall_ns, cpu_ns, waited_ns, stolen_ns, mhz)
      SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM measured_block WHERE id = ?1
      ON CONFLICT DO UPDATE SET process = excluded.process, wall_ns = excluded.wall_ns,
        cpu_ns = excluded.cpu_ns, waited_ns = excluded.waited_ns, stolen_ns = excluded.stolen_ns,
        mhz = excluded.mhz)",
      block, process, wall_ns, use.cpu_ns, use.waited_ns, use.stolen_ns, use.mhz);
}

void Store::mark_identities(std::span<const std::pair<RowId, Identity>> of_generations) {
  Transaction transaction(db_);
  Statement update(db_,
                   "UPDATE generation SET identical = ?, first_difference = ?, gap_at_difference "
                   "= ? WHERE id = ?");
  for (const auto& [generation, identity] : of_generations)
    update.bind(identity.identical, identity.first_difference, identity.gap, generation).step();
  transaction.commit();
}

void Store::put_scores(std::span<const AnswerScores> scores) {
  Transaction transaction(db_);
  for (const AnswerScores& one : scores) insert_scores(db_, one.generation, one.scores);
  transaction.commit();
  check_place();
}

void Store::replace_scores(
    const std::string& metric, std::span<const RowId> runs,
    const std::function<std::optional<std::vector<AnswerScores>>()>& current) {
  Transaction transaction(db_);
  const auto scores = current();
  if (!scores) return;
  for (const RowId run : runs)
    db_.run(
        "DELETE FROM score WHERE metric = ? AND generation_id IN "
        "(SELECT id FROM generation WHERE run_id = ?)",
        metric, run);
  for (const AnswerScores& one : *scores) insert_scores(db_, one.generation, one.scores);
  transaction.commit();
  check_place();
}

}  // namespace pardec
