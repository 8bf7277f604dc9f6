// What compare, report, score and export read.
#include <algorithm>
#include <cstdlib>

#include "src/store/old_schemas.hpp"
#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

Json json_or_null(const Statement& row, int column, const std::string& file) {
  return row.null(column) ? Json() : parse_json(row.text(column), file, 0);
}

Tokens tokens(const Statement& row, int column, const std::string& file) {
  return parse_json(row.text(column), file, 0).get<Tokens>();
}

JobKey key(const Statement& row, int column, const std::string& file) {
  return parse_json(row.text(column), file, 0).get<JobKey>();
}

std::vector<FieldAnswer> fields(const Statement& row, int column, const std::string& file) {
  std::vector<FieldAnswer> out;
  for (const Json& item : parse_json(row.text(column), file, 0)) {
    out.push_back({item.at("name").get<std::string>(), item.at("text").get<std::string>(),
                   item.at("tokens").get<Tokens>(), item.at("stop").get<std::string>()});
  }
  return out;
}

}  // namespace

std::vector<RunSummary> Store::summaries(const RunFilter& filter) {
  // As view run_summary, which sums up all runs of the database to give one.
  Statement find(db_, R"(
    WITH measured AS MATERIALIZED (
      SELECT id, wall_ns, example_count FROM measured_block WHERE run_id = ?1),
    counted AS (
      SELECT count(*) AS jobs, coalesce(sum(job.error IS NOT NULL), 0) AS failed_jobs,
             sum(chosen) FILTER (WHERE measured.id IS NOT NULL) AS measured_chosen,
             sum(text_tokens) FILTER (WHERE measured.id IS NOT NULL) AS measured_text_tokens,
             sum(prompt_tokens) FILTER (WHERE error IS NULL) AS prompt_tokens,
             sum(chosen) FILTER (WHERE error IS NULL) AS chosen,
             sum(forced) FILTER (WHERE error IS NULL) AS forced,
             sum(fed) FILTER (WHERE error IS NULL) AS fed,
             sum(text_tokens) FILTER (WHERE error IS NULL) AS text_tokens,
             sum(forwards) FILTER (WHERE error IS NULL) AS forwards,
             sum(prefill_ns) FILTER (WHERE error IS NULL) AS prefill_ns,
             sum(decode_ns) FILTER (WHERE error IS NULL) AS decode_ns,
             sum(total_ns) FILTER (WHERE error IS NULL) AS total_ns,
             max(cached_peak) FILTER (WHERE error IS NULL) AS cached_peak,
             sum(cached_sum) FILTER (WHERE error IS NULL) AS cached_sum,
             sum(attended) FILTER (WHERE error IS NULL) AS attended,
             sum(scratch) FILTER (WHERE error IS NULL) AS scratch,
             sum(branches) FILTER (WHERE error IS NULL) AS branches,
             avg(parallel_ratio) FILTER (WHERE error IS NULL) AS parallel_ratio
      FROM job LEFT JOIN measured ON measured.id = job.block_id WHERE run_id = ?1),
    answers AS (
      SELECT count(*) AS generations,
             coalesce(sum(generation.error IS NOT NULL), 0) AS failed_generations,
             count(identical) AS compared, coalesce(sum(identical), 0) AS identical,
             sum(field_count) FILTER (WHERE measured.id IS NOT NULL) AS measured_fields
      FROM generation JOIN job ON job.id = generation.job_id
      LEFT JOIN measured ON measured.id = job.block_id WHERE generation.run_id = ?1)
    SELECT jobs, failed_jobs, generations, failed_generations, compared, identical,
           (SELECT count(*) FROM block WHERE run_id = ?1), (SELECT count(*) FROM measured),
           (SELECT coalesce(sum(wall_ns), 0) FROM measured),
           (SELECT coalesce(sum(example_count), 0) FROM measured),
           coalesce(measured_fields, 0), coalesce(measured_chosen, 0),
           coalesce(measured_text_tokens, 0), coalesce(prompt_tokens, 0), coalesce(chosen, 0),
           coalesce(forced, 0), coalesce(fed, 0), coalesce(text_tokens, 0), coalesce(forwards, 0),
           coalesce(prefill_ns, 0), coalesce(decode_ns, 0), coalesce(total_ns, 0),
           coalesce(cached_peak, 0), coalesce(cached_sum, 0), coalesce(attended, 0),
           coalesce(scratch, 0), coalesce(branches, 0), parallel_ratio
    FROM counted, answers)");
  Statement histogram(db_, R"(
    SELECT emitted, sum(step_histogram.forwards) FROM step_histogram JOIN job ON job.id = job_id
    WHERE run_id = ? AND error IS NULL GROUP BY emitted)");
  const bool with_occupancy = db_.integer("PRAGMA user_version") >= 4;
  Statement occupancy(db_,
                      str("SELECT ",
                          with_occupancy ? "coalesce(sum(passes), 0), coalesce(sum(job_passes), "
                                           "0), coalesce(sum(stream_passes), 0)"
                                         : "0, 0, 0",
                          " FROM measured_block WHERE run_id = ?"));
  Statement examples(db_, "SELECT count(DISTINCT sample_id) FROM generation WHERE run_id = ?");
  std::vector<RunSummary> out;
  for (RunRow& run : find_runs(filter)) {
    RunSummary summary;
    JobCounters& totals = summary.totals;
    find.bind(run.id).step();
    int column = 0;
    for (std::int64_t* value : {&summary.jobs,
                                &summary.failed_jobs,
                                &summary.generations,
                                &summary.failed_generations,
                                &summary.compared,
                                &summary.identical,
                                &summary.blocks,
                                &summary.measured_blocks,
                                &summary.measured_wall_ns,
                                &summary.measured_examples,
                                &summary.measured_fields,
                                &summary.measured_chosen,
                                &summary.measured_text_tokens,
                                &totals.prompt_tokens,
                                &totals.chosen,
                                &totals.forced,
                                &totals.fed,
                                &totals.text_tokens,
                                &totals.forwards,
                                &totals.prefill_ns,
                                &totals.decode_ns,
                                &totals.total_ns,
                                &totals.cached_peak,
                                &totals.cached_sum,
                                &totals.attended,
                                &totals.scratch,
                                &totals.branches}) {
      *value = find.integer(column++);
    }
    totals.parallel_ratio = find.maybe_real(column);
    examples.bind(run.id).step();
    summary.examples = examples.integer(0);
    occupancy.bind(run.id).step();
    summary.measured = {occupancy.integer(0), occupancy.integer(1), occupancy.integer(2)};
    histogram.bind(run.id);
    while (histogram.step()) totals.emitted[histogram.integer(0)] = histogram.integer(1);
    summary.run = std::move(run);
    out.push_back(std::move(summary));
  }
  return out;
}

std::vector<JobRow> Store::jobs(RowId run) {
  const std::string file = path_.string();
  const std::int64_t version = db_.integer("PRAGMA user_version");
  Statement find(db_, str(R"(
    SELECT id, coalesce(block_id, 0), repeat, )",
                          job_key_sql("main", "job", version),
                          R"(, process, attempts, error, text, tokens, stop,
           prompt_tokens, chosen, forced, fed, text_tokens, forwards, prefill_ns, decode_ns,
           total_ns, cached_peak, cached_sum, attended, scratch, branches, branch_lengths,
           parallel_ratio, acceptance, unforced, top2, )",
                          version >= 3 ? "text_attended, parallel" : "0, NULL",
                          version >= 5 ? ", first_token_ns" : ", NULL", R"(
    FROM job WHERE run_id = ? ORDER BY repeat, id)"));
  Statement histogram(db_, "SELECT emitted, forwards FROM step_histogram WHERE job_id = ?");
  find.bind(run);
  std::vector<JobRow> out;
  while (find.step()) {
    JobRow job;
    JobCounters& c = job.counters;
    job.id = find.integer(0);
    job.run = run;
    job.block = find.integer(1);
    job.repeat = static_cast<int>(find.integer(2));
    job.key = key(find, 3, file);
    job.process = find.text(4);
    job.attempts = static_cast<int>(find.integer(5));
    job.error = find.maybe_text(6);
    job.text = find.text(7);
    job.tokens = tokens(find, 8, file);
    job.stop = find.text(9);
    int column = 10;
    for (std::int64_t* value :
         {&c.prompt_tokens, &c.chosen, &c.forced, &c.fed, &c.text_tokens, &c.forwards,
          &c.prefill_ns, &c.decode_ns, &c.total_ns, &c.cached_peak, &c.cached_sum, &c.attended,
          &c.scratch, &c.branches}) {
      *value = find.integer(column++);
    }
    c.branch_lengths = parse_json(find.text(24), file, 0).get<std::vector<std::int64_t>>();
    c.parallel_ratio = find.maybe_real(25);
    c.acceptance = json_or_null(find, 26, file);
    job.unforced = json_or_null(find, 27, file);
    job.top2 = json_or_null(find, 28, file);
    c.text_attended = find.integer(29);
    c.parallel = json_or_null(find, 30, file);
    c.first_token_ns = find.maybe_integer(31);
    histogram.bind(job.id);
    while (histogram.step()) c.emitted[histogram.integer(0)] = histogram.integer(1);
    out.push_back(std::move(job));
  }
  return out;
}

std::vector<StoredGeneration> Store::generations(RowId run) {
  const std::string file = path_.string();
  Statement find(db_, str(R"(
    SELECT generation.id, sample.key, generation.text, generation.tokens, generation.fields, generation.stop,
           generation.error, identical, first_difference, gap_at_difference, generation.repeat,
           )",
                          job_key_sql("main", "job", db_.integer("PRAGMA user_version")),
                          R"(, cluster, category
    FROM generation JOIN sample ON sample.id = sample_id JOIN job ON job.id = job_id
    WHERE generation.run_id = ? ORDER BY generation.repeat, generation.id)"));
  Statement scores(db_,
                   "SELECT metric, value, field, version, details, CAST(version AS INTEGER) "
                   "FROM score WHERE generation_id = ? ORDER BY id");
  find.bind(run);
  std::map<std::string, std::int64_t> newest;  // version of each metric of an answer
  std::vector<StoredGeneration> out;
  while (find.step()) {
    StoredGeneration stored;
    GenerationRow& row = stored.row;
    row.id = find.integer(0);
    row.sample = find.text(1);
    row.text = find.text(2);
    row.tokens = tokens(find, 3, file);
    row.fields = fields(find, 4, file);
    row.stop = find.text(5);
    row.error = find.maybe_text(6);
    if (!find.null(7))
      row.identity = Identity{find.integer(7) != 0, find.maybe_integer(8), find.maybe_real(9)};
    stored.repeat = static_cast<int>(find.integer(10));
    stored.job = key(find, 11, file);
    stored.cluster = find.text(12);
    stored.category = find.text(13);
    scores.bind(row.id);
    newest.clear();
    bool older = false;
    while (scores.step()) {
      row.scores.push_back({scores.text(0), scores.real(1), scores.text(2), scores.text(3),
                            json_or_null(scores, 4, file)});
      std::int64_t& most =
          newest.emplace(row.scores.back().metric, scores.integer(5)).first->second;
      older = older || most != scores.integer(5);
      most = std::max(most, scores.integer(5));
    }
    if (older)
      std::erase_if(row.scores, [&](const ScoreRow& score) {
        return std::strtoll(score.version.c_str(), nullptr, 10) != newest.at(score.metric);
      });
    out.push_back(std::move(stored));
  }
  return out;
}

std::vector<SampleRow> Store::samples(RowId dataset) {
  const std::string file = path_.string();
  const bool with_content = db_.integer("PRAGMA user_version") >= 2;
  Statement find(db_,
                 str("SELECT key, cluster, category, ", with_content ? "text, fields" : "'', '[]'",
                     " FROM sample WHERE dataset_id = ? ORDER BY id"));
  find.bind(dataset);
  std::vector<SampleRow> out;
  while (find.step())
    out.push_back({find.text(0), find.text(1), find.text(2), find.text(3),
                   parse_json(find.text(4), file, 0)});
  return out;
}

std::vector<ScoreMean> Store::score_means(RowId run) {
  Statement find(db_, R"(
    SELECT metric, version, avg(value), count(value), sum(is_nan)
    FROM score JOIN generation ON generation.id = generation_id
    WHERE run_id = ? GROUP BY metric, version ORDER BY metric, version)");
  find.bind(run);
  std::vector<ScoreMean> out;
  while (find.step())
    out.push_back({find.text(0), find.text(1), find.real(2), find.integer(3), find.integer(4)});
  return out;
}

std::vector<BlockPairRow> Store::block_pairs(RowId baseline, RowId method) {
  const auto times = [](const std::string& table, bool stored, bool may_be_traced) {
    if (!stored) return str(table, ".wall_ns, NULL, NULL, NULL, NULL, 0");
    return str(table, ".wall_ns, ", table, ".cpu_ns, ", table, ".waited_ns, ", table,
               ".stolen_ns, ", table, ".mhz, ", may_be_traced ? table + ".traced" : "0");
  };
  const bool with_use = db_.integer("PRAGMA user_version") >= 5;
  Statement find(
      db_,
      str("SELECT method.block_key, method.process, method.repeat, method.example_count, ",
          times("base", with_use, true), ", ", times("method", with_use, true),
          with_use
              ? ", base_again.process IS method_again.process AND base_again.block_id, " +
                    times("base_again", true, false) + ", " + times("method_again", true, false)
              : ", NULL",
          R"(
    FROM measured_block AS method JOIN measured_block AS base
      ON base.block_key = method.block_key AND base.repeat = method.repeat
         AND base.process = method.process)",
          with_use ? R"(
    LEFT JOIN block_repair AS base_again ON base_again.block_id = base.id
    LEFT JOIN block_repair AS method_again ON method_again.block_id = method.id)"
                   : "",
          " WHERE base.run_id = ? AND method.run_id = ? ORDER BY method.repeat, method.position"));
  const auto time_at = [&](int column) {
    return BlockTime{find.integer(column),
                     {{find.maybe_integer(column + 1), find.maybe_integer(column + 2),
                       find.maybe_integer(column + 3), find.maybe_real(column + 4)},
                      find.integer(column + 5) != 0}};
  };
  find.bind(baseline, method);
  std::vector<BlockPairRow> out;
  while (find.step()) {
    BlockPairRow& pair =
        out.emplace_back(BlockPairRow{find.text(0), find.text(1), static_cast<int>(find.integer(2)),
                                      find.integer(3), time_at(4), time_at(10), std::nullopt});
    if (!find.null(16) && find.integer(16) != 0) pair.repaired.emplace(time_at(17), time_at(23));
  }
  return out;
}

std::vector<ScorePair> Store::score_pairs(RowId baseline, RowId method, const std::string& metric) {
  Statement find(db_, R"(
    SELECT sample.key, cluster, category, method_score.field, method.repeat, base_score.value,
           method_score.value
    FROM generation AS method
    JOIN generation AS base ON base.sample_id = method.sample_id AND base.repeat = method.repeat
    JOIN sample ON sample.id = method.sample_id
    JOIN score AS method_score ON method_score.generation_id = method.id
    JOIN score AS base_score ON base_score.generation_id = base.id
         AND base_score.metric = method_score.metric
         AND base_score.version = method_score.version AND base_score.field = method_score.field
    WHERE base.run_id = ? AND method.run_id = ? AND method_score.metric = ?
    ORDER BY method.repeat, sample.id, method_score.field, method_score.version)");
  find.bind(baseline, method, metric);
  std::vector<ScorePair> out;
  while (find.step()) {
    out.push_back({find.text(0), find.text(1), find.text(2), find.text(3),
                   static_cast<int>(find.integer(4)), find.real(5), find.real(6)});
  }
  return out;
}

std::vector<GenerationPair> Store::generation_pairs(RowId baseline, RowId method) {
  const std::string file = path_.string();
  Statement find(db_, R"(
    SELECT base.id, method.id, sample.key, method.repeat, base.text, method.text, base.tokens,
           method.tokens
    FROM generation AS method
    JOIN generation AS base ON base.sample_id = method.sample_id AND base.repeat = method.repeat
    JOIN sample ON sample.id = method.sample_id
    WHERE base.run_id = ? AND method.run_id = ? AND base.error IS NULL AND method.error IS NULL
    ORDER BY method.repeat, sample.id)");
  find.bind(baseline, method);
  std::vector<GenerationPair> out;
  while (find.step()) {
    out.push_back({find.integer(0), find.integer(1), find.text(2),
                   static_cast<int>(find.integer(3)), find.text(4), find.text(5),
                   tokens(find, 6, file), tokens(find, 7, file)});
  }
  return out;
}

}  // namespace pardec
