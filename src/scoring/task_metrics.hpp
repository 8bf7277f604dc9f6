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

/// Scores of stored answers. `run` and `score` both compute scores from stored data, so that the
/// same answer gets the same score from either.
namespace pardec {

struct AttributeOutcome;  // metrics/attribute_f1.hpp

/// One field with its references, and the answer to it.
struct ScoredField {
  std::string name;
  bool annotated = true;
  std::vector<std::string> references;
  std::string question;              ///< an open question; empty: there is none
  std::vector<std::string> choices;  ///< for a multiple-choice question
  std::string test;       ///< for a programming task: the code that runs after text and answer
  std::string answer;     ///< without its thought; empty: absent
  bool no_value = false;  ///< neither a text nor an explicit absence; always wrong
};

struct ScoredExample {
  std::string category, text;
  std::vector<ScoredField> fields;
  bool failed = false;  ///< there is no answer; its fields are empty and have no value
};

/// The text of a stored answer after its thought. `empty`: there is no text after a thought.
struct SaidText {
  std::string_view text;
  bool empty = false;
};
/// For answers without a stored thought, thoughts are found by the marks of published model
/// families.
SaidText said_in(const FieldAnswer& answer);

/// Combines a stored sample and the answers to its fields. ConfigError: the sample does not have
/// the answers' fields.
ScoredExample scored_example(const SampleRow& sample, const std::vector<FieldAnswer>& answers);

/// Same, for a failed answer: it counts as wrong in all metrics with right and wrong answers.
ScoredExample failed_example(const SampleRow& sample);

/// One number for a whole run.
struct MetricTotal {
  std::string_view name;
  double value;
  std::int64_t count;  ///< number of answers that it is a mean over
};

/// The contribution of one answer to a total, as in ScorePart.
struct ScoredPart {
  std::int32_t answer;  ///< index in ScoreTable::answers
  std::int32_t field;   ///< number of its name
  std::int64_t group;   ///< an arbitrary number that identifies the group
  double numerator, denominator;
};

/// Stored rows that a metric's totals are computed from.
struct RowsRead {
  std::string_view metric;
  bool details = false;  ///< whether details are read, too
};

/// The rows to store for one answer, by field or for the whole example; empty: there is nothing to
/// score.
using ScoreExample = std::function<std::vector<ScoreRow>(const ScoredExample&)>;

// The sources of a metric's stored rows.

/// The answer's text; computed by `run`.
struct ByText {
  ScoreExample score;
};
/// Running code that the network wrote (in PythonSandbox); only on request: score --metric.
struct ByRunning {
  ScoreExample score;
};
/// A judge's verdicts; stored by `judge`.
struct ByJudge {
  std::string_view rows;  ///< the metric of these rows
};
/// A network that reads the answer: score --model.
struct ByNetwork {};

using MetricSource = std::variant<ByText, ByRunning, ByJudge, ByNetwork>;

/// One row of the table of metrics: what is stored for each answer, and how it is summed up for a
/// run.
struct TaskMetric {
  std::string_view name;  ///< for --metric
  std::string_view what;
  std::vector<std::string_view> totals;  ///< names; a dataset's metrics are among these
  std::string_view needs;  ///< what an example needs in order to be scored; empty: a judge decides
  MetricSource source;
  std::vector<RowsRead> reads;
  /// Computes totals from the stored rows of a run; totals without answers are left out.
  std::function<std::vector<MetricTotal>(const ScoreTable&)> total;
  /// The parts of one of the totals, for its interval, in the order of answers; empty: it has no
  /// answers.
  std::function<std::vector<ScoredPart>(std::string_view total, const ScoreTable&)> parts;
  /// Totals that count right and wrong answers, so that McNemar's test applies.
  std::vector<std::string_view> right_or_wrong = {};
  /// The metric of stored rows that are 1 for a right answer and 0 for a wrong one; empty: it has
  /// no right or wrong answers.
  std::string_view right = {};
  bool lower_is_better = false;  ///< applies to all its totals
  ScoreRange range = {};         ///< range of its totals' scores, except those in `ranges`
  std::vector<std::pair<std::string_view, ScoreRange>> ranges = {};

  /// Null: its rows come from another source.
  template <typename Source>
  const Source* by() const {
    return std::get_if<Source>(&source);
  }
};

const std::vector<TaskMetric>& task_metrics();

/// Outcomes of attribute values: sums by category, attribute, and whether it was annotated.
std::vector<AttributeOutcome> attribute_outcomes(const ScoreTable& stored);

/// How many stored answers have references that `rouge` largely ignores (is_outside_rouge), in
/// words; empty: none, or a share below `least`.
std::string outside_rouge(const ScoreTable& stored, double least = 0);

/// ConfigError, with similar names: there is no such metric.
const TaskMetric& find_metric(std::string_view name);

/// Whether lower values of this total are better.
bool lower_is_better(std::string_view total);

/// The range of the score of one answer.
ScoreRange range_of(std::string_view total);

/// Whether there is a total with this name.
bool computes(std::string_view total);
/// Whether the total comes from a judge's verdicts.
bool needs_judge(std::string_view total);

/// The metrics of a dataset that are ByText, which `run` computes.
std::vector<const TaskMetric*> metrics_of(const DatasetEntry& dataset);

}  // namespace pardec
