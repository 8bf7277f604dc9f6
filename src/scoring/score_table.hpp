#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/figures.hpp"
#include "src/store/store.hpp"

/// The scores of a run's answers in memory, one column per metric. To save memory, examples,
/// clusters, categories and fields are numbers, which refer to the names in ExampleNames.
namespace pardec {

/// An answer that may have scores.
struct ScoredAnswer {
  std::int32_t sample;             ///< index in ExampleNames::keys
  std::int32_t cluster, category;  ///< numbers in ExampleNames::clusters and categories
  std::int32_t repeat;
  std::int32_t fields;  ///< number of the answer's fields
};

/// One stored row of table `score`.
struct ScoreFigure {
  std::int32_t answer;  ///< index in ScoreTable::answers
  /// the field's number in ExampleNames::fields; for a score of the whole answer, the number of the
  /// empty name
  std::int32_t field;
  std::int32_t details;  ///< index in ScoreColumn::details
  std::int32_t version;  ///< version of the metric's definition
  double value;          ///< NaN if the stored value is no number
};

/// The rows of one metric, sorted by answer.
struct ScoreColumn {
  std::vector<ScoreFigure> rows;
  /// distinct details; an element is null if rows have no details, or if the details are not read
  std::vector<Json> details;

  /// Calls `of` once for each of the distinct details that rows use. Entry i is the result for
  /// details[i], or Value() if no row uses details[i].
  template <typename Value>
  std::vector<Value> for_details(Value (*of)(const Json&)) const {
    std::vector<Value> out(details.size());
    std::vector<bool> known(details.size());
    for (const ScoreFigure& row : rows) {
      const auto at = static_cast<std::size_t>(row.details);
      if (!known[at]) out[at] = of(details[at]);
      known[at] = true;
    }
    return out;
  }
};

/// The scores of one run. Usage: add all answers, add rows to the columns, call finish(), then
/// read.
class ScoreTable {
 public:
  /// A column to which rows are added.
  struct Column : ScoreColumn {
    /// The index of these details in `details`; adds them if they are new. `json`: JSON text;
    /// empty: there are no details, or they are not read. DataError: the text is not JSON.
    std::int32_t place_of(std::string_view json);

   private:
    std::map<std::string, std::int32_t, std::less<>> places_;
  };

  explicit ScoreTable(std::shared_ptr<ExampleNames> names) : names_(std::move(names)) {}

  /// Adds an answer, and returns the answer's index in answers().
  std::int32_t add(const ScoredAnswer& answer);
  /// The column of a metric; adds the column if it is new. The reference stays valid when other
  /// columns are added.
  Column& column_of(std::string_view metric);
  /// Call this after the last row. Sorts the rows by answer, and keeps only the newest version of
  /// each metric per answer.
  void finish();

  /// The answers of each category (a number in ExampleNames::categories), with their scores.
  std::map<std::int32_t, ScoreTable> by_category() const;

  const std::vector<ScoredAnswer>& answers() const { return answers_; }
  const ScoredAnswer& answer(const ScoreFigure& row) const {
    return answers_[static_cast<std::size_t>(row.answer)];
  }
  /// The column of a metric; empty if no answer has this metric.
  const ScoreColumn& column(std::string_view metric) const;
  ExampleNames& names() const { return *names_; }

 private:
  std::shared_ptr<ExampleNames> names_;
  std::vector<ScoredAnswer> answers_;
  std::map<std::string, Column, std::less<>> columns_;
};

/// Reads the stored scores of each run: one table per run, in the order of figures.runs. Only two
/// kinds of rows are read: rows that some metric reads (TaskMetric::reads), and rows with the name
/// `parsed` (whether the answer could be parsed).
std::vector<ScoreTable> read_scores(Store& store, const Figures& figures);

/// The scores in `generations`, e.g. the result of rescore(). The scores need not be stored.
ScoreTable score_table(const std::vector<StoredGeneration>& generations);

}  // namespace pardec
