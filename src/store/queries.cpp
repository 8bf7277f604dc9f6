// The queries of compare, report, score and export.
#include <algorithm>
#include <cstdlib>

#include "src/store/counter_columns.hpp"
#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

std::vector<FieldAnswer> fields(const Json& list) {
  std::vector<FieldAnswer> out;
  for (const Json& item : list) {
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

/// Condition for the rows of one owner (?1): all, or those whose `column` is in ?2. The latter are
/// looked up one by one: the plus keeps SQLite from scanning all rows of the owner.
std::string rows_of(std::string_view owner, const SampleIds& only, std::string_view column,
                    std::string_view wanted = "SELECT value FROM json_each(?2)") {
  return only ? str(" WHERE +", owner, " = ?1 AND ", column, " IN (", wanted, ")")
              : str(" WHERE ", owner, " = ?1 AND ?2 = ''");
}
std::string list_of(const SampleIds& only) { return only ? dump(Json(*only)) : ""; }

}  // namespace

std::vector<JobRow> Store::jobs(RowId run, const SampleIds& only) {
  Statement find(db_,
                 str("SELECT id, coalesce(block_id, 0), repeat, key, process, attempts, error, "
                     "text, tokens, stop, unforced, top2, turns, ",
                     counter_names(), " FROM job",
                     rows_of("run_id", only, "id",
                             "SELECT job_id FROM generation WHERE run_id = ?1 AND sample_id "
                             "IN (SELECT value FROM json_each(?2))"),
                     " ORDER BY repeat, id"));
  Statement histogram(db_, "SELECT emitted, forwards FROM step_histogram WHERE job_id = ?");
  find.bind(run, list_of(only));
  std::vector<JobRow> out;
  while (find.step()) {
    RowReader row(find);
    JobRow job;
    job.id = row.integer();
    job.run = run;
    job.block = row.integer();
    job.repeat = row.small();
    job.key = row.json().get<JobKey>();
    job.process = row.text();
    job.attempts = row.small();
    job.error = row.maybe_text();
    job.text = row.text();
    job.tokens = row.json().get<Tokens>();
    job.stop = row.text();
    job.unforced = row.maybe_json();
    job.top2 = row.maybe_json();
    for (const Json& turn : row.maybe_json()) job.turns.push_back(turn_counts(turn));
    read_counters(row, job.counters);
    histogram.bind(job.id);
    while (histogram.step()) {
      RowReader bar(histogram);
      const std::int64_t emitted = bar.integer();
      job.counters.emitted[emitted] = bar.integer();
    }
    out.push_back(std::move(job));
  }
  return out;
}

std::vector<StoredGeneration> Store::generations(RowId run, const SampleIds& only) {
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
  std::map<std::string, std::int64_t> newest;  // newest version of each metric of an answer
  std::vector<StoredGeneration> out;
  while (find.step()) {
    RowReader found(find);
    StoredGeneration stored;
    GenerationRow& row = stored.row;
    row.id = found.integer();
    row.sample = found.text();
    row.text = found.text();
    row.tokens = found.json().get<Tokens>();
    row.fields = fields(found.json());
    row.stop = found.text();
    row.error = found.maybe_text();
    if (found.null())
      found.skip(3);
    else
      row.identity = Identity{found.flag(), found.maybe_integer(), found.maybe_real()};
    stored.repeat = found.small();
    stored.job = found.json().get<JobKey>();
    stored.cluster = found.text();
    stored.category = found.text();
    scores.bind(row.id);
    newest.clear();
    bool older = false;
    while (scores.step()) {
      RowReader score(scores);
      row.scores.push_back(
          {score.text(), score.real(), score.text(), score.text(), score.maybe_json()});
      const std::int64_t version = score.integer();
      std::int64_t& most = newest.emplace(row.scores.back().metric, version).first->second;
      older = older || most != version;
      most = std::max(most, version);
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
  return RowReader(find).json().get<Tokens>();
}

std::vector<SampleRow> Store::samples(RowId dataset, const SampleIds& only) {
  Statement find(db_, str("SELECT key, cluster, category, text, fields FROM sample",
                          rows_of("dataset_id", only, "id"), " ORDER BY id"));
  find.bind(dataset, list_of(only));
  std::vector<SampleRow> out;
  while (find.step()) {
    RowReader row(find);
    out.push_back({row.text(), row.text(), row.text(), row.text(), row.json()});
  }
  return out;
}

std::vector<ScoreMean> Store::score_means(RowId run) {
  Statement find(db_, R"(
    SELECT metric, version, avg(value), count(value), sum(is_nan)
    FROM score JOIN generation ON generation.id = generation_id
    WHERE run_id = ? GROUP BY metric, version ORDER BY metric, version)");
  find.bind(run);
  std::vector<ScoreMean> out;
  while (find.step()) {
    RowReader row(find);
    out.push_back({row.text(), row.text(), row.real(), row.integer(), row.integer()});
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
    RowReader row(find);
    out.push_back(
        {row.text(), row.text(), row.text(), row.text(), row.small(), row.real(), row.real()});
  }
  return out;
}

std::vector<GenerationPair> Store::generation_pairs(RowId baseline, RowId method) {
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
    RowReader row(find);
    out.push_back({row.integer(), row.integer(), row.text(), row.small(), row.text(), row.text(),
                   row.json().get<Tokens>(), row.json().get<Tokens>()});
  }
  return out;
}

}  // namespace pardec
