// Runs, and the objects that they refer to.
#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

constexpr char kSelectRun[] = R"(
  SELECT run.id, uuid, invocation, label, decoder, options, form, baseline,
         experiment.name, experiment.json, environment.json,
         dataset.name, dataset.split, dataset.sha256, dataset.is_sample, dataset.is_standin,
         model.path, model.hash, model.stamp, model.shape,
         draft.path, draft.hash, draft.stamp, draft.shape,
         config, config_hash, oracle, untrained, seed, device, dtype, threads, batch_size, repeats,
         arm_order, shard, commit_hash, build_type, prompt_hash, argv, status, started_utc,
         ended_utc
  FROM run
  JOIN dataset ON dataset.id = dataset_id
  JOIN environment ON environment.id = environment_id
  JOIN model ON model.id = model_id
  LEFT JOIN model AS draft ON draft.id = draft_model_id
  LEFT JOIN experiment ON experiment.id = experiment_id)";

RunStatus parse_status(const std::string& text) {
  if (text == "done") return RunStatus::done;
  return text == "failed" ? RunStatus::failed : RunStatus::running;
}

/// Reads the columns of kSelectRun.
RunRow read_run(const Statement& found) {
  RowReader row(found);
  RunRow run;
  run.id = row.integer();
  run.uuid = row.text();
  run.invocation = row.text();
  run.label = row.text();
  run.decoder = row.text();
  run.options = row.json();
  run.form = row.text();
  run.baseline = row.maybe_text();
  if (row.null()) {
    row.skip(2);
  } else {
    run.experiment.emplace();
    run.experiment->name = row.text();
    run.experiment->json = row.json();
  }
  run.environment = row.json();
  run.dataset.name = row.text();
  run.dataset.split = row.text();
  run.dataset.sha256 = row.text();
  run.dataset.sample = row.flag();
  run.dataset.standin = row.flag();
  const auto read_model = [&](ModelRow& model) {
    model.path = row.text();
    model.hash = row.text();
    model.stamp = row.text();
    model.shape = row.json();
  };
  read_model(run.model);
  if (row.null()) {
    row.skip(4);
  } else {
    read_model(run.draft.emplace());
  }
  run.config = row.json();
  run.config_hash = row.text();
  run.oracle = row.maybe_text();
  run.untrained = row.flag();
  run.seed = static_cast<std::uint64_t>(row.integer());
  run.device = row.text();
  run.dtype = row.text();
  run.threads = row.small();
  run.batch_size = row.small();
  run.repeats = row.small();
  run.order = row.text();
  run.shard = row.text();
  run.commit = row.text();
  run.build_type = row.text();
  run.prompt_hash = row.text();
  run.argv = row.json().get<std::vector<std::string>>();
  run.status = parse_status(row.text());
  run.started_utc = row.text();
  run.ended_utc = row.maybe_text();
  return run;
}

}  // namespace

RowId Store::put_experiment(const ExperimentRow& experiment) {
  const std::string json = dump(experiment.json), hash = sha256(json);
  db_.run("INSERT INTO experiment (name, hash, json) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
          experiment.name, hash, json);
  return db_.integer("SELECT id FROM experiment WHERE name = ? AND hash = ?", experiment.name,
                     hash);
}

RowId Store::put_environment(const Json& environment) {
  const std::string json = dump(environment), hash = sha256(json);
  db_.run("INSERT INTO environment (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, json);
  return db_.integer("SELECT id FROM environment WHERE hash = ?", hash);
}

void Store::put_process(const std::string& process, const std::string& host,
                        const Json& environment) {
  db_.run("INSERT INTO process (uuid, host, environment_id) VALUES (?, ?, ?)", process, host,
          put_environment(environment));
  check_place();
}

std::vector<MachineRow> Store::machines(const std::string& invocation) {
  std::vector<MachineRow> machines;
  // A database that is only read may be of an older pardec.
  if (db_.integer("SELECT count(*) FROM pragma_table_info('process')") == 0) return machines;
  Statement find(db_, R"(
    SELECT host, environment.json, count(*), count(DISTINCT process.uuid),
           max(process.rowid)
    FROM run JOIN block ON block.run_id = run.id JOIN process ON process.uuid = block.process
    JOIN environment ON environment.id = process.environment_id
    WHERE invocation = ? GROUP BY host ORDER BY count(*) DESC, host)");
  find.bind(invocation);
  while (find.step()) {
    RowReader row(find);
    MachineRow& machine = machines.emplace_back();
    machine.host = row.text();
    machine.environment = row.json();
    machine.blocks = row.integer();
    machine.processes = row.integer();
  }
  return machines;
}

void Store::note_device_memory(const std::string& invocation, std::int64_t peak_bytes) {
  Transaction transaction(db_);
  for (const RunRow& run : find_runs({.invocation = invocation})) {
    Json environment = run.environment;
    environment[kDeviceMemory] =
        std::max(peak_bytes, environment.value(kDeviceMemory, std::int64_t{0}));
    db_.run("UPDATE run SET environment_id = ? WHERE id = ?", put_environment(environment), run.id);
  }
  transaction.commit();
}

RowId Store::put_model(const ModelRow& model) {
  db_.run(
      "INSERT INTO model (path, hash, stamp, shape) VALUES (?, ?, ?, ?) "
      "ON CONFLICT DO UPDATE SET stamp = excluded.stamp, shape = excluded.shape",
      model.path, model.hash, model.stamp, dump(model.shape));
  return db_.integer("SELECT id FROM model WHERE path = ? AND hash = ?", model.path, model.hash);
}

bool same_split(const DatasetRow& a, const DatasetRow& b) {
  return a.name == b.name && a.split == b.split && a.standin == b.standin;
}

RowId Store::put_dataset(const DatasetRow& dataset) {
  db_.run(
      "INSERT INTO dataset (name, split, sha256, is_sample, is_standin) VALUES (?, ?, ?, ?, ?) "
      "ON CONFLICT DO NOTHING",
      dataset.name, dataset.split, dataset.sha256, dataset.sample, dataset.standin);
  return db_.integer(
      "SELECT id FROM dataset WHERE name = ? AND split = ? AND sha256 = ? AND is_sample = ? AND "
      "is_standin = ?",
      dataset.name, dataset.split, dataset.sha256, dataset.sample, dataset.standin);
}

void Store::put_samples(RowId dataset, std::span<const SampleRow> samples) {
  Transaction transaction(db_);
  Statement insert(db_,
                   "INSERT INTO sample (dataset_id, key, cluster, category, text, fields) "
                   "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  for (const SampleRow& sample : samples)
    insert
        .bind(dataset, sample.key, sample.cluster, sample.category, repair_utf8(sample.text),
              dump(sample.fields))
        .step();
  transaction.commit();
  check_place();
}

std::optional<std::string> Store::model_hash(const std::string& path, const std::string& stamp) {
  Statement find(db_,
                 "SELECT hash FROM model WHERE path = ? AND stamp = ? ORDER BY id DESC LIMIT 1");
  return find.bind(path, stamp).step() ? std::optional(find.text(0)) : std::nullopt;
}

RowId Store::begin_run(const RunRow& run) {
  Transaction transaction(db_);
  if (const RowId known = db_.integer("SELECT id FROM run WHERE uuid = ?", run.uuid)) {
    db_.run("UPDATE run SET status = 'running', ended_utc = NULL WHERE id = ?", known);
    transaction.commit();
    check_place();
    return known;
  }
  const std::string config = dump(run.config);
  std::optional<RowId> experiment, draft;
  if (run.experiment) experiment = put_experiment(*run.experiment);
  if (run.draft) draft = put_model(*run.draft);
  db_.run(
      R"(
      INSERT INTO run (uuid, invocation, label, decoder, options, form, baseline, experiment_id,
                       environment_id, dataset_id, model_id, draft_model_id, config, config_hash,
                       oracle, untrained, seed, device, dtype, threads, batch_size, repeats,
                       arm_order, shard, commit_hash, build_type, prompt_hash, argv, status,
                       started_utc, ended_utc)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
              ?, ?, ?))",
      run.uuid.empty() ? make_uuid() : run.uuid, run.invocation, run.label, run.decoder,
      dump(run.options), run.form, run.baseline, experiment, put_environment(run.environment),
      put_dataset(run.dataset), put_model(run.model), draft, config,
      run.config_hash.empty() ? sha256(config) : run.config_hash, run.oracle, run.untrained,
      static_cast<std::int64_t>(run.seed), run.device, run.dtype, run.threads, run.batch_size,
      run.repeats, run.order, run.shard, run.commit, run.build_type, run.prompt_hash,
      dump(Json(run.argv)), name(run.status), run.started_utc.empty() ? utc_now() : run.started_utc,
      run.ended_utc);
  const RowId id = sqlite3_last_insert_rowid(db_.handle());
  transaction.commit();
  check_place();
  return id;
}

RowId Store::dataset_of(RowId run) {
  return db_.integer("SELECT dataset_id FROM run WHERE id = ?", run);
}

std::vector<RunRow> Store::find_runs(const RunFilter& filter) {
  Statement find(db_, str(kSelectRun, R"(
    WHERE (?1 = '' OR label = ?1) AND (?2 = '' OR dataset.name = ?2)
      AND (?3 = '' OR dataset.split = ?3) AND (?4 = '' OR invocation = ?4)
      AND substr(uuid, 1, length(?5)) = ?5 AND (?6 = '' OR status = ?6)
      AND (?7 IS NULL OR dataset.is_standin = ?7)
    ORDER BY started_utc DESC, run.id DESC)"));
  find.bind(filter.label, filter.dataset, filter.split, filter.invocation, filter.uuid,
            filter.status ? name(*filter.status) : std::string_view(), filter.standin);
  std::vector<RunRow> out;
  while (find.step()) out.push_back(read_run(find));
  return out;
}

std::vector<FinishedJob> Store::finished_jobs(RowId run) {
  Statement find(db_, R"(
    SELECT key, repeat, error IS NOT NULL
           OR EXISTS (SELECT 1 FROM generation
                      WHERE job_id = job.id AND generation.error IS NOT NULL),
           error IS NOT NULL
    FROM job WHERE run_id = ? ORDER BY repeat, key)");
  find.bind(run);
  std::vector<FinishedJob> out;
  while (find.step()) {
    RowReader row(find);
    out.push_back({row.json().get<JobKey>(), row.small(), row.flag(), row.flag()});
  }
  return out;
}

void Store::finish_run(RowId run, RunStatus status) {
  db_.run("UPDATE run SET status = ?, ended_utc = ? WHERE id = ?", name(status),
          status == RunStatus::running ? std::optional<std::string>() : utc_now(), run);
  check_place();
}

}  // namespace pardec
