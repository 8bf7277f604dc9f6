// What compare, report, score and export read.
#include <algorithm>
#include <cstdlib>

#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

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
                   item.at("tokens").get<Tokens>(), item.at("stop").get<std::string>(),
                   item.value("no_value", false)});
    if (const auto thought = item.find("thought"); thought != item.end())
      out.back().thought =
          FieldThought{thought->at("tokens").get<std::int64_t>(),
                       thought->at("bytes").get<std::int64_t>(), thought->value("open", false)};
  }
  return out;
}

/// Rows of one owner (?1), all of them or those (?2) that a column names. These are looked up one
/// by one: the plus keeps SQLite from going through all of the owner's.
std::string rows_of(std::string_view owner, const SampleIds& only, std::string_view column,
                    std::string_view wanted = "SELECT value FROM json_each(?2)") {
  return only ? str(" WHERE +", owner, " = ?1 AND ", column, " IN (", wanted, ")")
              : str(" WHERE ", owner, " = ?1 AND ?2 = ''");
}
std::string list_of(const SampleIds& only) { return only ? dump(Json(*only)) : ""; }

}  // namespace

std::vector<JobRow> Store::jobs(RowId run, const SampleIds& only) {
  const std::string file = path_.string();
  Statement find(db_, str(R"(
    SELECT id, coalesce(block_id, 0), repeat, key, process, attempts, error, text, tokens, stop,
           prompt_tokens, chosen, forced, fed, text_tokens, forwards, prefill_ns, decode_ns,
           total_ns, cached_peak, cached_sum, attended, scratch, branches, branch_lengths,
           parallel_ratio, acceptance, unforced, top2, text_attended, parallel, first_token_ns,
           turns
    FROM job)",
                          rows_of("run_id", only, "id",
                                  "SELECT job_id FROM generation WHERE run_id = ?1 AND sample_id "
                                  "IN (SELECT value FROM json_each(?2))"),
                          " ORDER BY repeat, id"));
  Statement histogram(db_, "SELECT emitted, forwards FROM step_histogram WHERE job_id = ?");
  find.bind(run, list_of(only));
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
    c.acceptance = find.maybe_json(26);
    job.unforced = find.maybe_json(27);
    job.top2 = find.maybe_json(28);
    c.text_attended = find.integer(29);
    c.parallel = find.maybe_json(30);
    c.first_token_ns = find.maybe_integer(31);
    c.turns = find.maybe_json(32);
    histogram.bind(job.id);
    while (histogram.step()) c.emitted[histogram.integer(0)] = histogram.integer(1);
    out.push_back(std::move(job));
  }
  return out;
}

std::vector<StoredGeneration> Store::generations(RowId run, const SampleIds& only) {
  const std::string file = path_.string();
  Statement find(db_, str(R"(
    SELECT generation.id, sample.key, generation.text, generation.tokens, generation.fields, generation.stop,
           generation.error, identical, first_difference, gap_at_difference, generation.repeat,
           job.key, cluster, category
    FROM generation JOIN sample ON sample.id = sample_id JOIN job ON job.id = job_id
)",
                          rows_of("generation.run_id", only, "sample_id"),
                          " ORDER BY generation.repeat, generation.id"));
  Statement scores(db_,
                   "SELECT metric, value, field, version, details, CAST(version AS INTEGER) "
                   "FROM score WHERE generation_id = ? ORDER BY id");
  find.bind(run, list_of(only));
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
      row.scores.push_back(
          {scores.text(0), scores.real(1), scores.text(2), scores.text(3), scores.maybe_json(4)});
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

std::optional<Tokens> Store::answer_ids(RowId run, int repeat, const std::string& sample) {
  Statement find(db_,
                 "SELECT tokens FROM generation WHERE run_id = ?1 AND repeat = ?2 AND sample_id = ("
                 "SELECT sample.id FROM sample JOIN run USING (dataset_id) "
                 "WHERE run.id = ?1 AND sample.key = ?3)");
  if (!find.bind(run, repeat, sample).step()) return std::nullopt;
  return tokens(find, 0, path_.string());
}

std::vector<SampleRow> Store::samples(RowId dataset, const SampleIds& only) {
  const std::string file = path_.string();
  Statement find(db_, str("SELECT key, cluster, category, text, fields FROM sample",
                          rows_of("dataset_id", only, "id"), " ORDER BY id"));
  find.bind(dataset, list_of(only));
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
