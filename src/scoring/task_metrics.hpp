#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "datasets/dataset.hpp"
#include "metrics/score_intervals.hpp"
#include "src/scoring/score_table.hpp"
#include "src/store/rows.hpp"
#include "src/store/store.hpp"

/// Scores of stored answers. `run` and `score` both come here with what the store holds, so the
/// same answer has the same score by either.
namespace pardec {

struct AttributeOutcome;  // metrics/attribute_f1.hpp

/// One field with what counts as right, and the answer to it.
struct ScoredField {
  std::string name;
  bool annotated = true;
  std::vector<std::string> references;
  std::string question;              ///< an open one; empty: it has none
  std::vector<std::string> choices;  ///< of a multiple-choice question
  std::string test;                  ///< of a programming task: what runs after text and answer
  std::string answer;                ///< after its thought; empty: absent
  bool no_value = false;             ///< not even a word for absence: no right answer to anything
};

struct ScoredExample {
  std::string category, text;
  std::vector<ScoredField> fields;
  bool failed = false;  ///< there is no answer; its fields are empty and have no value
};

/// What a stored answer says, after its thought. `empty`: nothing, though a thought stands before
/// it.
struct SaidText {
  std::string_view text;
  bool empty = false;
};
/// Of answers that were stored before thoughts were, by the marks of published families.
SaidText said_in(const FieldAnswer& answer);

/// Joins a stored sample and the answers to its fields. ConfigError where the sample does not
/// have the answers' fields.
ScoredExample scored_example(const SampleRow& sample, const std::vector<FieldAnswer>& answers);

/// The same of an answer that failed: it counts as wrong wherever an answer is right or wrong.
ScoredExample failed_example(const SampleRow& sample);

/// One number of a whole run.
struct MetricTotal {
  std::string_view name;
  double value;
  std::int64_t count;  ///< answers that it is a mean of
};

/// What one answer adds to a total, as ScorePart has it.
struct ScoredPart {
  std::int32_t answer;  ///< index in ScoreTable::answers
  std::int32_t field;   ///< number of its name
  std::int64_t group;   ///< any number
  double numerator, denominator;
};

/// Stored rows that a metric's totals are made of.
struct RowsRead {
  std::string_view metric;
  bool details = false;  ///< not the value alone
};

/// Rows to store of one answer, by field or for the whole example; none: it has nothing to be
/// scored.
using ScoreExample = std::function<std::vector<ScoreRow>(const ScoredExample&)>;

// Where the stored rows of a metric come from.

/// From the answer's text: `run` stores them.
struct ByText {
  ScoreExample score;
};
/// From running what the network wrote (in PythonSandbox), so only on demand: score --metric.
struct ByRunning {
  ScoreExample score;
};
/// From a judge's verdicts: `judge` stores them.
struct ByJudge {
  std::string_view rows;  ///< the metric of those rows
};
/// From a network that reads the answer: score --model.
struct ByNetwork {};

using MetricSource = std::variant<ByText, ByRunning, ByJudge, ByNetwork>;

/// One row of the table of metrics: what is stored of one answer, and what a run has in sum.
struct TaskMetric {
  std::string_view name;  ///< for --metric
  std::string_view what;
  std::vector<std::string_view> totals;  ///< names; a dataset's metrics are among these
  std::string_view needs;  ///< what an example must have to be scored; empty: a judge says it
  MetricSource source;
  std::vector<RowsRead> reads;
  /// Over the stored rows of a run; totals over no answer are left out.
  std::function<std::vector<MetricTotal>(const ScoreTable&)> total;
  /// What one of its totals is made of, for its interval, in the order of answers; none where it is
  /// over no answer.
  std::function<std::vector<ScoredPart>(std::string_view total, const ScoreTable&)> parts;
  /// Totals that count right and wrong answers, which McNemar's test is for.
  std::vector<std::string_view> right_or_wrong = {};
  /// The stored row that is 1 for a right answer and 0 for a wrong one; empty: it only grades.
  std::string_view right = {};
  bool lower_is_better = false;  ///< of all its totals
  ScoreRange range = {};         ///< of its totals' scores, but for those that it names
  std::vector<std::pair<std::string_view, ScoreRange>> ranges = {};

  /// Null: its rows come from elsewhere.
  template <typename Source>
  const Source* by() const {
    return std::get_if<Source>(&source);
  }
};

const std::vector<TaskMetric>& task_metrics();

/// What the values of attributes counted as: sums by category, attribute and whether it was
/// annotated.
std::vector<AttributeOutcome> attribute_outcomes(const ScoreTable& stored);

/// Of how many stored answers `rouge` leaves out much of what the references say
/// (is_outside_rouge); empty: of no answer, or of less than the share `least`.
std::string outside_rouge(const ScoreTable& stored, double least = 0);

/// ConfigError with the near names where there is none of that name.
const TaskMetric& find_metric(std::string_view name);

/// Whether a lower value of this total is a better one.
bool lower_is_better(std::string_view total);

/// Between what the score of one answer lies.
ScoreRange range_of(std::string_view total);

/// Whether there is a total of this name.
bool computes(std::string_view total);
/// Whether it comes from a judge's verdicts.
bool needs_judge(std::string_view total);

/// The metrics of a dataset that are ByText: what `run` stores.
std::vector<const TaskMetric*> metrics_of(const DatasetEntry& dataset);

}  // namespace pardec
