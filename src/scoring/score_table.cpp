#include "src/scoring/score_table.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "src/scoring/task_metrics.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Metrics of the stored rows that are read -> whether their details are read, too.
std::map<std::string, bool> rows_read() {
  std::map<std::string, bool> read{{"parsed", false}};
  for (const TaskMetric& metric : task_metrics())
    for (const RowsRead& rows : metric.reads) {
      bool& details = read[std::string(rows.metric)];
      details = details || rows.details;
    }
  return read;
}

std::int32_t version_number(std::string_view text) {
  std::int32_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

/// Reads table `score`. If most of the table is needed, it is read in the order of its rows;
/// otherwise by the index on answers, and the rows of each answer are sorted by id.
class ScoreReader {
 public:
  ScoreReader(Store& store, const Figures& figures)
      : store_(store), figures_(figures), tables_(figures.runs.size(), ScoreTable(figures.names)) {
    for (std::size_t r = 0; r < tables_.size(); ++r)
      for (const AnswerFigures& answer : figures.runs[r].answers) {
        const ExampleFigures& example = figures.examples[static_cast<std::size_t>(answer.example)];
        places_.add(answer.id,
                    {r, tables_[r].add({answer.example, example.cluster, example.category,
                                        answer.repeat, answer.fields})});
      }
    places_.sort();
    for (const auto& [metric, details] : rows_read()) {
      Kind& kind = kinds_.emplace_back(Kind{metric, details, {}});
      for (ScoreTable& table : tables_) kind.columns.push_back(&table.column_of(metric));
    }
  }

  std::vector<ScoreTable> read() && {
    if (places_.empty()) return std::move(tables_);
    const std::int64_t answers = store_.database().integer("SELECT max(id) FROM generation");
    const bool most = 3 * places_.size() > answers;
    Statement rows(store_.database(),
                   str("SELECT generation_id, id, metric, field, version, value, details FROM "
                       "score WHERE ",
                       most ? "+" : "", "generation_id BETWEEN ? AND ? ORDER BY ",
                       most ? "id" : "generation_id"));
    rows.bind(places_.first(), places_.last());
    RowId generation = 0;
    const Place* place = nullptr;
    while (rows.step()) {
      if (const RowId id = rows.integer(0); id != generation) {
        flush();
        generation = id;
        place = places_.find(id);
      }
      const Kind* kind = place ? kind_of(rows.view(2)) : nullptr;
      if (!kind) continue;
      ScoreTable::Column* column = kind->columns[place->run];
      waiting_.push_back({rows.integer(1),
                          column,
                          {place->answer, figures_.names->fields.of(rows.view(3)),
                           column->place_of(kind->details ? rows.view(6) : std::string_view()),
                           version_number(rows.view(4)), rows.real(5)}});
    }
    flush();
    for (ScoreTable& table : tables_) table.finish();
    return std::move(tables_);
  }

 private:
  struct Place {
    std::size_t run;
    std::int32_t answer;
  };
  struct Kind {
    std::string metric;
    bool details;
    std::vector<ScoreTable::Column*> columns;  // by run
  };
  struct Waiting {
    RowId id;
    ScoreTable::Column* column;
    ScoreFigure row;
  };

  /// Null: the metric is not read.
  const Kind* kind_of(std::string_view metric) {
    if (last_ && last_->metric == metric) return last_;
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const Kind& kind) { return kind.metric == metric; });
    return last_ = found == kinds_.end() ? nullptr : &*found;
  }

  void flush() {
    std::sort(waiting_.begin(), waiting_.end(),
              [](const Waiting& a, const Waiting& b) { return a.id < b.id; });
    for (const Waiting& one : waiting_) one.column->rows.push_back(one.row);
    waiting_.clear();
  }

  Store& store_;
  const Figures& figures_;
  std::vector<ScoreTable> tables_;
  std::vector<Kind> kinds_;
  const Kind* last_ = nullptr;
  RowPlaces<Place> places_;
  std::vector<Waiting> waiting_;  // rows of one answer
};

}  // namespace

std::int32_t ScoreTable::Column::place_of(std::string_view json) {
  const auto found = places_.find(json);
  if (found != places_.end()) return found->second;
  details.push_back(json.empty() ? Json() : parse_json(json, "details of a score", 0));
  return places_.emplace(json, static_cast<std::int32_t>(details.size() - 1)).first->second;
}

std::int32_t ScoreTable::add(const ScoredAnswer& answer) {
  answers_.push_back(answer);
  return static_cast<std::int32_t>(answers_.size() - 1);
}

std::map<std::int32_t, ScoreTable> ScoreTable::by_category() const {
  std::map<std::int32_t, ScoreTable> parts;
  std::vector<std::int32_t> places;  // of this table's answers in their parts
  for (const ScoredAnswer& answer : answers_)
    places.push_back(parts.try_emplace(answer.category, names_).first->second.add(answer));
  for (const auto& [metric, column] : columns_) {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> details;  // by category and place
    for (ScoreFigure row : column.rows) {
      const std::int32_t category = answer(row).category;
      Column& own = parts.at(category).columns_[metric];
      const auto [place, is_new] = details.try_emplace(
          {category, row.details}, static_cast<std::int32_t>(own.details.size()));
      if (is_new) own.details.push_back(column.details[static_cast<std::size_t>(row.details)]);
      row.answer = places[static_cast<std::size_t>(row.answer)];
      row.details = place->second;
      own.rows.push_back(row);
    }
  }
  return parts;
}

ScoreTable::Column& ScoreTable::column_of(std::string_view metric) {
  return columns_[std::string(metric)];
}

void ScoreTable::finish() {
  const auto earlier = [](const ScoreFigure& a, const ScoreFigure& b) {
    return a.answer < b.answer;
  };
  std::vector<std::int32_t> newest;
  for (auto& [name, column] : columns_) {
    auto& rows = column.rows;
    if (!std::is_sorted(rows.begin(), rows.end(), earlier))
      std::stable_sort(rows.begin(), rows.end(), earlier);
    newest.assign(answers_.size(), 0);
    const auto newest_of = [&](const ScoreFigure& row) -> std::int32_t& {
      return newest[static_cast<std::size_t>(row.answer)];
    };
    for (const ScoreFigure& row : rows) newest_of(row) = std::max(newest_of(row), row.version);
    std::erase_if(rows, [&](const ScoreFigure& row) { return row.version < newest_of(row); });
  }
}

const ScoreColumn& ScoreTable::column(std::string_view metric) const {
  static const ScoreColumn kNone;
  const auto found = columns_.find(metric);
  return found == columns_.end() ? kNone : found->second;
}

std::vector<ScoreTable> read_scores(Store& store, const Figures& figures) {
  return ScoreReader(store, figures).read();
}

ScoreTable score_table(const std::vector<StoredGeneration>& generations) {
  auto names = std::make_shared<ExampleNames>();
  NameNumbers keys;
  ScoreTable table(names);
  for (const StoredGeneration& one : generations) {
    const std::int32_t sample = keys.of(one.row.sample);
    if (keys.size() > std::ssize(names->keys)) names->keys.push_back(one.row.sample);
    const std::int32_t answer =
        table.add({sample, names->clusters.of(one.cluster), names->categories.of(one.category),
                   one.repeat, static_cast<std::int32_t>(one.row.fields.size())});
    for (const ScoreRow& row : one.row.scores) {
      ScoreTable::Column& column = table.column_of(row.metric);
      column.rows.push_back({answer, names->fields.of(row.field),
                             column.place_of(row.details.is_null() ? "" : dump(row.details)),
                             version_number(row.version), row.value});
    }
  }
  table.finish();
  return table;
}

}  // namespace pardec
