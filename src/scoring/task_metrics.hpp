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

/// Metrics of stored answers. Both `run` and `score` compute scores from stored data, so they give
/// the same answer the same score.
namespace pardec {

struct AttributeOutcome;  // metrics/attribute_f1.hpp

/// One field with its references and its answer.
struct ScoredField {
  std::string name;
  bool annotated = true;
  std::vector<std::string> references;
  std::string question;              ///< an open question; empty: the field has none
  std::vector<std::string> choices;  ///< for a multiple-choice question
  std::string test;       ///< for a programming task: test code that is run after text and answer
  std::string answer;     ///< without thinking; empty: absent
  bool no_value = false;  ///< the answer is neither a text nor an explicit absence; always wrong
};

/// One example with its answer, as the metrics see it.
struct ScoredExample {
  std::string category, text;
  std::vector<ScoredField> fields;
  bool failed = false;  ///< there is no answer; all fields have no_value
};

/// The text of a stored answer after its thinking. `empty`: there is thinking, but no text after
/// it.
struct AnswerText {
  std::string_view text;
  bool empty = false;
};
/// Finds the text of a stored answer after its thinking. If the store has no FieldThought for the
/// answer, thinking is recognised by the marks of published model families.
AnswerText answer_text(const FieldAnswer& answer);

/// Combines a stored sample with the answers to its fields, in the same order. ConfigError: the
/// numbers of fields and answers differ.
ScoredExample scored_example(const SampleRow& sample, const std::vector<FieldAnswer>& answers);

/// A stored sample with a failed answer, which counts as wrong in all metrics with right and wrong
/// answers.
ScoredExample failed_example(const SampleRow& sample);

/// The value of a total: one number for a whole run.
struct MetricTotal {
  std::string_view name;
  double value;
  /// number of scored values: one per scored field (for pass_at_k: one per task)
  std::int64_t count;
};

/// The contribution of one answer to a total; see ScorePart.
struct ScoredPart {
  std::int32_t answer;  ///< index in ScoreTable::answers
  std::int32_t field;   ///< ScoreFigure::field
  std::int64_t group;   ///< number of the part's group; the numbers need not be consecutive
  double numerator, denominator;
};

/// The stored rows from which a metric's totals are computed.
struct RowsRead {
  std::string_view metric;
  bool details = false;  ///< whether details are read too
};

/// Computes the rows to store for one answer, by field or for the whole example. Empty: there is
/// nothing to score.
using ScoreExample = std::function<std::vector<ScoreRow>(const ScoredExample&)>;

// A metric has one of these four sources of rows.

/// Computed from the answer's text, by `run`.
struct ByText {
  ScoreExample score;
};
/// Computed by running code that the network wrote (PythonSandbox). Only `score --metric` computes
/// these rows.
struct ByRunning {
  ScoreExample score;
};
/// Computed from a judge's verdicts, by `judge`.
struct ByJudge {
  std::string_view rows;  ///< the metric name of the stored rows (ScoreRow::metric)
};
/// Computed by a network that reads the answer, by `score --model`.
struct ByNetwork {};

using MetricSource = std::variant<ByText, ByRunning, ByJudge, ByNetwork>;

/// A metric: the rows that are stored for each answer, and the totals that are computed from them
/// for a run.
struct TaskMetric {
  std::string_view name;  ///< name for --metric
  /// one line about what the metric measures
  std::string_view what;
  std::vector<std::string_view> totals;  ///< DatasetEntry::metrics has names of totals
  std::string_view needs;  ///< what an example must have to be scored, as text; empty for ByJudge
  MetricSource source;
  /// the stored rows that `total` and `parts` read
  std::vector<RowsRead> reads;
  /// Computes the totals of a run. Totals without answers are left out.
  std::function<std::vector<MetricTotal>(const ScoreTable&)> total;
  /// The parts of one total, for its interval: one per scored field of an answer, in the order of
  /// answers (for pass_at_k: one per task, in any order). Empty: the total has no answers.
  std::function<std::vector<ScoredPart>(std::string_view total, const ScoreTable&)> parts;
  /// The totals that count right and wrong answers. McNemar's test applies to these.
  std::vector<std::string_view> right_or_wrong = {};
  /// The name of the metric whose rows say whether an answer is right: 1 for a right answer, 0 for
  /// a wrong answer (token_f1: a value between 0 and 1 for a partly right answer). Empty: there are
  /// no right and wrong answers.
  std::string_view right = {};
  bool lower_is_better = false;  ///< for all totals
  /// The range of one answer's score. `ranges` has the totals for which the range is another one.
  ScoreRange range = {};
  std::vector<std::pair<std::string_view, ScoreRange>> ranges = {};

  /// The source if it has this type; otherwise null.
  template <typename Source>
  const Source* by() const {
    return std::get_if<Source>(&source);
  }
};

/// All metrics.
const std::vector<TaskMetric>& task_metrics();

/// Outcomes of attribute values, summed by category, attribute, and whether the attribute was
/// annotated.
std::vector<AttributeOutcome> attribute_outcomes(const ScoreTable& stored);

/// A message with the number of stored answers whose references `rouge` largely ignores
/// (is_outside_rouge). Empty: there are no such answers, or their share is below `least`.
std::string outside_rouge(const ScoreTable& stored, double least = 0);

/// Finds a metric by name. ConfigError: there is no such metric; the message suggests similar
/// names.
const TaskMetric& find_metric(std::string_view name);

/// Whether lower values of this total are better.
bool lower_is_better(std::string_view total);

/// The range of one answer's score for this total; kNoRange if no metric has this total.
ScoreRange range_of(std::string_view total);

/// Whether some metric has a total with this name.
bool computes(std::string_view total);
/// Whether the total is computed from a judge's verdicts.
bool needs_judge(std::string_view total);

/// The metrics of a dataset with source ByText. `run` computes these.
std::vector<const TaskMetric*> metrics_of(const DatasetEntry& dataset);

}  // namespace pardec
