#include "src/report/export.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "src/report/comparison_table.hpp"
#include "src/store/counter_columns.hpp"
#include "src/store/sqlite.hpp"
#include "src/store/views.hpp"
#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A column read from the database.
struct ExportColumn {
  std::string name, type;  ///< type: integer, number or text
  std::string sql;
};

/// The names of all tables that may be written.
constexpr std::array kTables{"comparison",    "warnings",    "runs",        "blocks",
                             "jobs",          "generations", "score_parts", "answer_pairs",
                             "speedup_pairs", "judgments",   "pairs",       "attempts",
                             "judges"};

/// The first columns of every table except comparison, warnings, attempts and judges.
const std::vector<ExportColumn> kOfRun = {{"invocation", "text", "run.invocation"},
                                          {"run", "text", "run.uuid"},
                                          {"dataset", "text", "dataset.name"},
                                          {"split", "text", "dataset.split"},
                                          {"arm", "text", "run.label"},
                                          {"decoder", "text", "run.decoder"}};

/// Columns of a table under their own names.
std::vector<ExportColumn> columns_of(const std::string& table, const std::string& type,
                                     const std::vector<std::string>& names) {
  std::vector<ExportColumn> columns;
  for (const std::string& name : names) columns.push_back({name, type, table + "." + name});
  return columns;
}

std::vector<ExportColumn> joined(const std::vector<std::vector<ExportColumn>>& parts) {
  std::vector<ExportColumn> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<ExportColumn> run_columns() {
  return joined({kOfRun,
                 columns_of("run", "text", {"options", "form", "baseline", "oracle"}),
                 columns_of("run", "integer", {"untrained", "seed"}),
                 columns_of("run", "text", {"device", "dtype"}),
                 columns_of("run", "integer", {"threads", "batch_size", "repeats"}),
                 columns_of("run", "text",
                            {"arm_order", "shard", "commit_hash", "build_type", "prompt_hash",
                             "config", "status", "started_utc", "ended_utc"}),
                 {{"dataset_sha256", "text", "dataset.sha256"},
                  {"dataset_is_sample", "integer", "dataset.is_sample"},
                  {"dataset_is_standin", "integer", "dataset.is_standin"},
                  {"model", "text", "model.path"},
                  {"model_hash", "text", "model.hash"},
                  {"draft_model", "text", "(SELECT path FROM model WHERE id = run.draft_model_id)"},
                  {"environment", "text", "environment.json"}}});
}

std::vector<ExportColumn> block_columns() {
  return joined(
      {kOfRun,
       {{"repeat", "integer", "block.repeat"}, {"block", "integer", "block.position"}},
       columns_of("block", "text", {"samples", "arms"}),
       columns_of("block", "integer", {"example_count"}),
       columns_of("block", "text", {"process"}),
       columns_of("block", "integer", {"wall_ns"}),
       columns_of("block", "integer", {"passes", "job_passes", "stream_passes", "experts_read"}),
       columns_of("block", "integer", {"cpu_ns", "waited_ns", "stolen_ns", "traced"}),
       columns_of("block", "number", {"mhz"}),
       columns_of("block", "text", {"load"}),
       {{"repaired_wall_ns", "integer",
         "(SELECT wall_ns FROM block_repair WHERE block_id = block.id)"}}});
}

/// The costs of jobs in the order of the schema, without columns that follow from others.
std::vector<ExportColumn> cost_columns(Database& db) {
  std::vector<std::string> names{"turns"};
  for (const CounterColumn& column : counter_columns())
    if (!column.is_derived()) names.emplace_back(column.name);
  std::vector<ExportColumn> columns;
  Statement find(db, "SELECT name, type FROM pragma_table_info('job')");
  while (find.step()) {
    RowReader column(find);
    const std::string name = column.text(), type = column.text();
    if (std::find(names.begin(), names.end(), name) != names.end())
      columns.push_back({name, type == "INTEGER" ? "integer" : "text", "job." + name});
  }
  return columns;
}

std::vector<ExportColumn> job_columns(Database& db) {
  return joined(
      {kOfRun,
       columns_of("job", "integer", {"repeat"}),
       {{"job", "integer", "job.id"}, {"block", "integer", "block.position"}},
       {{"samples", "text",
         "(SELECT json_group_array(key) FROM (SELECT sample.key FROM generation JOIN sample ON "
         "sample.id = sample_id WHERE job_id = job.id ORDER BY generation.id))"}},
       columns_of("job", "text", {"process"}),
       columns_of("job", "integer", {"attempts"}),
       columns_of("job", "text", {"error", "stop", "text", "tokens"}),
       cost_columns(db)});
}

/// A view of the schema: its columns, and the SQL after SELECT's columns, with the invocation as
/// ?1.
struct ExportView {
  std::vector<ExportColumn> columns;
  std::string from;
};

/// Columns of a view under their own names, after those that name the run.
std::vector<ExportColumn> view_columns(const std::string& view,
                                       const std::vector<std::vector<ExportColumn>>& parts) {
  std::vector<std::vector<ExportColumn>> all{
      columns_of(view, "text", {"invocation", "run", "dataset", "split", "arm", "decoder"})};
  all.insert(all.end(), parts.begin(), parts.end());
  return joined(all);
}

/// Answers, with one column per metric: the score of this answer.
ExportView generations_view(Database& db, const std::string& invocation) {
  const std::string view = "generations";
  std::vector<ExportColumn> columns =
      view_columns(view, {columns_of(view, "text", {"sample", "cluster", "category"}),
                          columns_of(view, "integer", {"repeat", "job"}),
                          columns_of(view, "text", {"asked"}),
                          {{"references", "text", "generations.\"references\""}},
                          columns_of(view, "text", {"text", "error", "stop", "fields", "tokens"}),
                          columns_of(view, "integer",
                                     {"field_count", "failed", "hit_limit", "unparsed", "empty",
                                      "broken", "identical", "first_difference"}),
                          columns_of(view, "number", {"gap_at_difference", "seconds"}),
                          columns_of(view, "integer", {"examples_in_job"})});
  std::vector<std::string> scores;
  Statement metrics(db,
                    "SELECT metric FROM metric_source WHERE metric IN (SELECT metric FROM "
                    "scores_by_example WHERE invocation = ?)");
  metrics.bind(invocation);
  while (metrics.step()) {
    const std::string metric = metrics.text(0);
    scores.push_back(str(", max(score) FILTER (WHERE metric = '", metric, "') AS ", metric));
    columns.push_back({metric, "number", "scores." + metric});
  }
  return {std::move(columns),
          str("generations LEFT JOIN (SELECT generation_id", join(scores, ""),
              " FROM scores_by_example WHERE invocation = ?1 GROUP BY generation_id) AS scores "
              "ON scores.generation_id = generations.generation_id WHERE generations.invocation = "
              "?1 ORDER BY generations.run_id, generations.generation_id")};
}

ExportView score_parts_view() {
  const std::string view = "score_parts";
  return {view_columns(view, {columns_of(view, "text", {"sample", "cluster", "category"}),
                              columns_of(view, "integer", {"repeat", "failed"}),
                              columns_of(view, "text", {"field", "metric", "score_group"}),
                              columns_of(view, "number", {"numerator", "denominator"})}),
          "score_parts WHERE invocation = ?1 ORDER BY run_id, generation_id, metric, field"};
}

ExportView answer_pairs_view() {
  const std::string view = "answer_pairs";
  return {view_columns(
              view, {columns_of(view, "text", {"baseline", "sample", "cluster", "category"}),
                     columns_of(view, "integer", {"repeat"}),
                     columns_of(view, "text", {"asked"}),
                     {{"references", "text", "answer_pairs.\"references\""}},
                     columns_of(view, "text", {"baseline_text", "text"}),
                     columns_of(view, "integer",
                                {"identical", "first_difference", "baseline_failed", "failed",
                                 "baseline_hit_limit", "hit_limit", "baseline_broken", "broken"}),
                     columns_of(view, "number", {"baseline_seconds", "seconds"}),
                     columns_of(view, "text", {"metric"}),
                     columns_of(view, "number", {"baseline_score", "score"})}),
          "answer_pairs WHERE invocation = ?1 ORDER BY run_id, repeat, sample, metric"};
}

ExportView speedup_pairs_view() {
  const std::string view = "speedup_pairs";
  return {
      view_columns(
          view,
          {columns_of(view, "text", {"baseline"}), columns_of(view, "integer", {"repeat", "block"}),
           columns_of(view, "text", {"samples"}), columns_of(view, "integer", {"example_count"}),
           columns_of(view, "text", {"process"}),
           columns_of(view, "integer", {"baseline_ns", "method_ns"}),
           columns_of(view, "number", {"speedup"}),
           columns_of(view, "integer",
                      {"disturbed", "traced", "baseline_repaired_ns", "method_repaired_ns"})}),
      "speedup_pairs WHERE invocation = ?1 ORDER BY run_id, repeat, block"};
}

/// A table: names and types of its columns, and its rows, which are passed on one by one.
struct Source {
  std::string name;
  std::vector<std::pair<std::string, std::string>> columns;
  std::function<void(const std::function<void(const std::vector<Json>&)>&)> each_row;
};

/// `from`: the SQL after SELECT's columns, with the invocation as ?1.
Source source_of(Database& db, const std::string& name, const std::vector<ExportColumn>& columns,
                 const std::string& from, const std::string& invocation) {
  std::vector<std::string> selected;
  Source source{name, {}, {}};
  for (const ExportColumn& column : columns) {
    selected.push_back(column.sql);
    source.columns.emplace_back(column.name, column.type);
  }
  const std::string sql = str("SELECT ", join(selected, ", "), " FROM ", from);
  source.each_row = [&db, sql, columns, invocation](const auto& row) {
    Statement read(db, sql);
    read.bind(invocation);
    std::vector<Json> values(columns.size());
    while (read.step()) {
      for (size_t c = 0; c < columns.size(); ++c) {
        const int at = static_cast<int>(c);
        if (read.null(at))
          values[c] = nullptr;
        else if (columns[c].type == "integer")
          values[c] = read.integer(at);
        else if (columns[c].type == "number")
          values[c] = read.real(at);
        else
          values[c] = read.text(at);
      }
      row(values);
    }
  };
  return source;
}

Source source_of(Database& db, const std::string& name, const ExportView& view,
                 const std::string& invocation) {
  return source_of(db, name, view.columns, view.from, invocation);
}

/// `table` must outlive the result.
Source source_of(const std::string& name, const FlatTable& table) {
  Source source{name, {}, {}};
  for (size_t c = 0; c < table.columns.size(); ++c) {
    bool any = false, whole = true, flags = true;
    for (const auto& row : table.rows) {
      any = any || !row[c].is_null();
      flags = flags && (row[c].is_null() || row[c].is_boolean());
      whole = whole && (row[c].is_null() || row[c].is_number_integer());
    }
    source.columns.emplace_back(table.columns[c].name, any && flags                ? "boolean"
                                                       : !table.columns[c].numbers ? "text"
                                                       : any && whole              ? "integer"
                                                                                   : "number");
  }
  source.each_row = [&table](const auto& row) {
    for (const auto& values : table.rows) row(values);
  };
  return source;
}

const std::string kGenerations =
    " JOIN generation ON generation.run_id = run.id JOIN sample ON sample.id = "
    "generation.sample_id";

/// The tables about judges: verdicts on the run's answers, requests, and costs. Empty: there were
/// no judges.
std::vector<Source> judged_sources(
    Database& db, const std::string& invocation,
    const std::function<std::string(const std::string&, const std::string&)>& of_run) {
  const auto who = [](const std::string& table) {
    return str(kGenerations, " JOIN ", table, " ON ", table,
               ".generation_id = generation.id JOIN judge ON judge.id = ", table,
               ".judge_id JOIN protocol ON protocol.id = ", table,
               ".protocol_id LEFT JOIN judge_reply ON judge_reply.id = ", table, ".reply_id");
  };
  const std::vector<ExportColumn> of_vote =
      joined({kOfRun,
              {{"sample", "text", "sample.key"}, {"repeat", "integer", "generation.repeat"}},
              {{"judge", "text", "judge.name"}, {"judge_hash", "text", "judge.hash"}},
              {{"protocol", "text", "protocol.name"}, {"protocol_hash", "text", "protocol.hash"}}});
  const std::vector<ExportColumn> of_reply = {{"reply", "text", "judge_reply.text"},
                                              {"call_key", "text", "judge_reply.call_key"}};
  std::vector<Source> sources;
  sources.push_back(source_of(db, "judgments",
                              joined({of_vote, columns_of("judgment", "text", {"field"}),
                                      columns_of("judgment", "integer", {"vote"}),
                                      columns_of("judgment", "text", {"state", "class"}),
                                      columns_of("judgment", "number", {"value"}),
                                      columns_of("judgment", "text", {"reason"}), of_reply}),
                              of_run("judgment", who("judgment")), invocation));
  sources.push_back(source_of(
      db, "pairs",
      joined({of_vote,
              {{"baseline", "text",
                "(SELECT label FROM run JOIN generation ON run.id = run_id WHERE generation.id = "
                "comparison.baseline_id)"}},
              columns_of("comparison", "text", {"field"}),
              columns_of("comparison", "integer", {"vote", "method_first"}),
              columns_of("comparison", "text", {"state", "winner", "reason"}),
              of_reply}),
      of_run("comparison", who("comparison")), invocation));
  // Requests of the calls that led to these votes, including failed requests.
  const std::string votes =
      "(SELECT judge_id, reply_id FROM judgment JOIN generation ON generation.id = generation_id "
      "JOIN run ON run.id = run_id WHERE invocation = ?1 UNION SELECT judge_id, reply_id FROM "
      "comparison JOIN generation ON generation.id = generation_id JOIN run ON run.id = run_id "
      "WHERE invocation = ?1)";
  sources.push_back(source_of(
      db, "attempts",
      joined(
          {{{"judge", "text", "judge.name"}, {"judge_hash", "text", "judge.hash"}},
           columns_of("judge_attempt", "text", {"process", "call_key"}),
           columns_of("judge_attempt", "integer", {"number"}),
           columns_of("judge_attempt", "text", {"started_utc"}),
           columns_of("judge_attempt", "number", {"waited_s", "seconds"}),
           columns_of("judge_attempt", "integer", {"http_status"}),
           columns_of("judge_attempt", "text", {"request_id", "format"}),
           columns_of("judge_attempt", "integer",
                      {"prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens"}),
           columns_of("judge_attempt", "number", {"cost"}),
           columns_of("judge_attempt", "integer", {"outcome_unknown"}),
           columns_of("judge_attempt", "text", {"error", "body"})}),
      str("judge_attempt JOIN judge ON judge.id = judge_attempt.judge_id WHERE process IN (SELECT "
          "process FROM judge_reply WHERE id IN (SELECT reply_id FROM ",
          votes, ")) ORDER BY judge_attempt.id"),
      invocation));
  sources.push_back(source_of(
      db, "judges",
      joined({{{"judge", "text", "judge.name"}, {"judge_hash", "text", "judge.hash"}},
              {{"settings", "text", "judge.json"}},
              {{"attempts", "integer",
                "(SELECT count(*) FROM judge_attempt WHERE judge_id = judge.id)"},
               {"cost", "number",
                "(SELECT coalesce(sum(cost), 0) FROM judge_attempt WHERE judge_id = judge.id AND "
                "NOT outcome_unknown)"}}}),
      str("judge WHERE id IN (SELECT judge_id FROM ", votes, ") ORDER BY id"), invocation));
  bool any = false;
  sources.back().each_row([&](const auto&) { any = true; });
  if (!any) sources.clear();
  return sources;
}

/// A row for each warning about the rows of a table.
Table warnings_table(const Table& of) {
  Table table;
  table.columns = {{"dataset"}, {"arm"}, {"code"}, {"text"}};
  for (const Table::Warning& warning : of.warnings)
    table.rows.push_back({warning.dataset, warning.arm, warning.code, warning.text()});
  return table;
}

std::int64_t write(const Source& source, bool csv, const std::filesystem::path& file) {
  std::int64_t rows = 0;
  write_file(file, [&](const FileSink& sink) {
    const auto put = [&](const std::string& text) { sink(text.data(), text.size()); };
    std::vector<Json> header;
    for (const auto& [name, type] : source.columns) header.emplace_back(name);
    if (csv) put(csv_line(header, false));
    source.each_row([&](const std::vector<Json>& values) {
      ++rows;
      if (csv) {
        put(csv_line(values, false));
        return;
      }
      OrderedJson line = OrderedJson::object();
      for (size_t c = 0; c < values.size(); ++c)
        line[source.columns[c].first] = OrderedJson(values[c]);
      put(dump(line) + "\n");
    });
  });
  return rows;
}

ChildRun run_converter(const Json& task) {
  return run_child({project_python(), "-I", project_file("results/to_parquet.py").string()},
                   dump(task));
}

/// The folder in which tables are written until all are complete. If the process is killed, the
/// earlier tables are still there.
struct Unfinished {
  explicit Unfinished(const std::filesystem::path& out) : folder(out / ".pardec-export") {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    std::filesystem::create_directories(folder, error);
    if (error)
      throw ConfigError(str("`out` is ", out.string(), ", and this folder cannot be made: ",
                            error.message(), "; give another"));
  }
  ~Unfinished() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  const std::filesystem::path folder;
};

void check_pyarrow() {
  const ChildRun asked = run_converter(Json{{"tables", Json::array()}});
  if (asked.good()) return;
  throw ConfigError(str("`format=parquet`: ", asked.error ? "there is no " + project_python() : "",
                        asked.error ? "" : std::string(strip(asked.complaint)),
                        "; expected a Python with pyarrow: .venv/bin/pip install pyarrow, or "
                        "`format=csv`"));
}

}  // namespace

ExportFormat parse_export_format(std::string_view name) {
  if (name == "csv") return ExportFormat::csv;
  if (name == "jsonl") return ExportFormat::jsonl;
  if (name == "parquet") return ExportFormat::parquet;
  throw ConfigError(str("`format`: there is no format '", name, "'",
                        known_names(name, {"csv", "jsonl", "parquet"})));
}

std::vector<std::filesystem::path> table_files(ExportFormat format,
                                               const std::filesystem::path& folder) {
  const char* const ending = format == ExportFormat::csv     ? ".csv"
                             : format == ExportFormat::jsonl ? ".jsonl"
                                                             : ".parquet";
  std::vector<std::filesystem::path> files;
  for (const char* table : kTables) files.push_back(folder / str(table, ending));
  return files;
}

std::vector<ExportedFile> export_tables(Store& store, const Comparison& comparison,
                                        ExportFormat format, const std::filesystem::path& folder,
                                        const Wording& wording) {
  if (format == ExportFormat::parquet) check_pyarrow();
  const Unfinished unfinished(folder);
  Database& db = store.database();
  use_own_views(db);
  const std::string& invocation = comparison.invocation;
  const std::string runs =
      "run JOIN dataset ON dataset.id = run.dataset_id JOIN model ON model.id = run.model_id JOIN "
      "environment ON environment.id = run.environment_id";
  const Table table = worded(comparison_table(comparison), wording);
  const FlatTable compared = flat(table), warnings = flat(warnings_table(table));
  const auto of_run = [&](const std::string& of, const std::string& join_with = "") {
    return str(runs, join_with, " WHERE run.invocation = ?1 ORDER BY run.id, ", of, ".id");
  };
  std::vector<Source> sources = {
      source_of("comparison", compared),
      source_of("warnings", warnings),
      source_of(db, "runs", run_columns(), of_run("run"), invocation),
      source_of(db, "blocks", block_columns(),
                of_run("block", " JOIN block ON block.run_id = run.id"), invocation),
      source_of(db, "jobs", job_columns(db),
                of_run("job",
                       " JOIN job ON job.run_id = run.id LEFT JOIN block ON block.id = "
                       "job.block_id"),
                invocation),
      source_of(db, "generations", generations_view(db, invocation), invocation),
      source_of(db, "score_parts", score_parts_view(), invocation),
      source_of(db, "answer_pairs", answer_pairs_view(), invocation),
      source_of(db, "speedup_pairs", speedup_pairs_view(), invocation)};
  for (Source& source : judged_sources(db, invocation, of_run))
    sources.push_back(std::move(source));
  const bool csv = format == ExportFormat::csv;
  std::vector<ExportedFile> files;
  Json tables = Json::array();
  for (const Source& source : sources) {
    const std::filesystem::path file =
        unfinished.folder / (source.name + (csv ? ".csv" : ".jsonl"));
    files.push_back({file, write(source, csv, file)});
    tables.push_back({{"file", file.string()}, {"columns", source.columns}});
  }
  if (format == ExportFormat::parquet) {
    const ChildRun converted = run_converter(Json{{"tables", tables}});
    if (!converted.good())
      throw RunError(str("parquet files could not be written: ", strip(converted.complaint)));
    for (ExportedFile& file : files) file.file.replace_extension(".parquet");
  }
  std::vector<std::filesystem::path> others = table_files(format, folder);
  for (ExportedFile& file : files) {
    const std::filesystem::path place = folder / file.file.filename();
    std::error_code error;
    std::filesystem::rename(file.file, place, error);
    if (error)
      throw RunError(str(place.string(), " cannot be written: ", error.message(),
                         "; move what is there, and export again"));
    file.file = place;
    std::erase(others, place);
  }
  std::error_code ignored;
  for (const auto& of_another_run : others) std::filesystem::remove(of_another_run, ignored);
  return files;
}

}  // namespace pardec
