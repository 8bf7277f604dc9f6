#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/store/figures.hpp"
#include "src/store/store.hpp"

/// The scores of a run's answers in plain numbers, a column a metric.
namespace pardec {

/// An answer that scores may be of.
struct ScoredAnswer {
  std::int32_t sample;             ///< index in ExampleNames::keys
  std::int32_t cluster, category;  ///< by number
  std::int32_t repeat;
  std::int32_t fields;  ///< how many it has
};

/// One stored row of `score`.
struct ScoreFigure {
  std::int32_t answer;   ///< index in ScoreTable::answers
  std::int32_t field;    ///< number of its name; that of "" for the whole answer
  std::int32_t details;  ///< index in ScoreColumn::details
  std::int32_t version;
  double value;  ///< NaN: not a number
};

/// The rows of one metric, by answer.
struct ScoreColumn {
  std::vector<ScoreFigure> rows;
  std::vector<Json> details;  ///< the different ones; null where the metric does not read them

  /// What `of` gives for the details of the rows, by ScoreFigure::details.
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

class ScoreTable {
 public:
  /// A column that is being filled.
  struct Column : ScoreColumn {
    /// The index of details as JSON text; empty: none, or none that anybody reads.
    std::int32_t place_of(std::string_view json);

   private:
    std::map<std::string, std::int32_t, std::less<>> places_;
  };

  explicit ScoreTable(std::shared_ptr<ExampleNames> names) : names_(std::move(names)) {}

  std::int32_t add(const ScoredAnswer& answer);
  /// Stays where it is.
  Column& column_of(std::string_view metric);
  /// After the last row: leaves of each metric of an answer the newest version alone.
  void finish();

  const std::vector<ScoredAnswer>& answers() const { return answers_; }
  const ScoredAnswer& answer(const ScoreFigure& row) const {
    return answers_[static_cast<std::size_t>(row.answer)];
  }
  /// Empty where nothing has that metric.
  const ScoreColumn& column(std::string_view metric) const;
  ExampleNames& names() const { return *names_; }

 private:
  std::shared_ptr<ExampleNames> names_;
  std::vector<ScoredAnswer> answers_;
  std::map<std::string, Column, std::less<>> columns_;
};

/// The stored scores of each run, as far as a metric has a use for them.
std::vector<ScoreTable> read_scores(Store& store, const Figures& figures);

/// Of generations with their scores, which are perhaps not stored.
ScoreTable score_table(const std::vector<StoredGeneration>& generations);

}  // namespace pardec
