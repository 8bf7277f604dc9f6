#include "src/scoring/task_metrics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "metrics/attribute_f1.hpp"
#include "metrics/choice_letter.hpp"
#include "metrics/decoding_metrics.hpp"
#include "metrics/exact_match.hpp"
#include "metrics/judge_f1.hpp"
#include "metrics/maths_answer.hpp"
#include "metrics/pass_at_k.hpp"
#include "metrics/program_text.hpp"
#include "metrics/rouge.hpp"
#include "metrics/token_f1.hpp"
#include "src/sandbox/python_sandbox.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/support/thought.hpp"

namespace pardec {

namespace {

using Rows = std::vector<ScoreRow>;

ScoreRow row(std::string metric, std::string field, double value, Json details = {},
             std::string version = "1") {
  ScoreRow out;
  out.version = std::move(version);
  out.metric = std::move(metric);
  out.field = std::move(field);
  out.value = value;
  out.details = std::move(details);
  return out;
}

/// A total that is the mean of stored rows.
struct MeanTotal {
  std::string_view name;    ///< of the total
  std::string_view metric;  ///< of the rows
  double (*value)(double) = [](double stored) { return stored; };
  bool (*counts)(const Json& details) = nullptr;  ///< which rows count; null: all
};

/// A row's part if each field is its own group.
ScoredPart part_of(const ScoreFigure& row, double numerator, double denominator) {
  return {row.answer, row.field, 0, numerator, denominator};
}

/// Calls `use` for the rows of a mean.
template <typename Use>
void each_of(const MeanTotal& total, const ScoreTable& stored, const Use& use) {
  const ScoreColumn& column = stored.column(total.metric);
  const auto counts = total.counts ? column.for_details(total.counts) : std::vector<bool>();
  for (const ScoreFigure& row : column.rows)
    if (!total.counts || counts[static_cast<size_t>(row.details)]) use(row, total.value(row.value));
}

/// A metric whose totals are means; the first total is the headline.
TaskMetric mean_metric(std::string_view name, std::string_view what, std::string_view needs,
                       MetricSource source, std::vector<MeanTotal> means,
                       std::vector<std::string_view> right_or_wrong = {},
                       std::string_view right = {}, bool lower_is_better = false) {
  TaskMetric metric{name, what, {}, needs, std::move(source), {}, {}, {}, std::move(right_or_wrong),
                    right};
  metric.lower_is_better = lower_is_better;
  for (const MeanTotal& mean : means) {
    metric.totals.push_back(mean.name);
    metric.reads.push_back({mean.metric, mean.counts != nullptr});
  }
  metric.total = [means](const ScoreTable& stored) {
    std::vector<MetricTotal> totals;
    for (const MeanTotal& mean : means) {
      double sum = 0;
      std::int64_t count = 0;
      each_of(mean, stored, [&](const ScoreFigure&, double value) { sum += value, ++count; });
      if (count) totals.push_back({mean.name, sum / static_cast<double>(count), count});
    }
    return totals;
  };
  metric.parts = [means](std::string_view total, const ScoreTable& stored) {
    const auto mean = std::find_if(means.begin(), means.end(),
                                   [&](const MeanTotal& one) { return one.name == total; });
    std::vector<ScoredPart> parts;
    if (mean == means.end()) return parts;
    parts.reserve(stored.column(mean->metric).rows.size());
    each_of(*mean, stored,
            [&](const ScoreFigure& row, double value) { parts.push_back(part_of(row, value, 1)); });
    return parts;
  };
  return metric;
}

// Value F1 of attribute extraction.

std::vector<AttributePrediction> predictions_of(const ScoredExample& example) {
  std::vector<AttributePrediction> predictions;
  for (const auto& field : example.fields)
    if (field.question.empty() && field.test.empty())
      predictions.push_back({example.category, field.name, field.annotated, field.references,
                             field.answer.empty() ? std::nullopt : std::optional(field.answer)});
  return predictions;
}

/// For each field its outcome (ExtractGPT's five letters), and the example's own F1 in ExtractGPT's
/// and in the strict count. Questions and programming tasks have none, since their answers are not
/// values of attributes.
Rows value_scores(const ScoredExample& example) {
  Rows rows;
  const auto predictions = predictions_of(example);
  if (predictions.empty()) return {};
  for (const auto& prediction : predictions) {
    const AttributeCounts one = count(prediction);
    rows.push_back(row("value_correct", prediction.attribute, one.nn || one.vc ? 1 : 0,
                       {{"counts_as", letters(one)}, {"annotated", prediction.annotated}}));
  }
  const auto add = [&](const char* metric, const AttributeScores& scores) {
    const AttributeCounts& c = scores.micro;
    rows.push_back(row(metric, "", scores.micro_f1,
                       {{"nn", c.nn}, {"nv", c.nv}, {"vn", c.vn}, {"vc", c.vc}, {"vw", c.vw}}));
  };
  add("extractgpt_f1", extractgpt_f1(predictions));
  add("strict_f1", strict_f1(predictions));
  return rows;
}

/// The outcome of a field of `value_correct`, and whether the field was annotated.
AttributeCounts value_counts(const Json& details) {
  return counts_of(details.at("counts_as").get<std::string>());
}
bool is_annotated(const Json& details) { return details.at("annotated").get<bool>(); }

std::vector<MetricTotal> value_totals(const ScoreTable& stored) {
  const auto outcomes = attribute_outcomes(stored);
  if (outcomes.empty()) return {};
  const AttributeScores annotated = extractgpt_f1(outcomes), strict = strict_f1(outcomes);
  const std::int64_t n = std::ssize(stored.column("value_correct").rows);
  return {{"f1_micro", annotated.micro_f1, n},
          {"f1_macro", annotated.macro_f1, n},
          {"f1_strict", strict.micro_f1, n},
          {"f1_strict_macro", strict.macro_f1, n}};
}

/// F1 = 2 vc / (2 vc + nv + vn + 2 vw): over all fields for micro, by category and attribute for
/// macro.
std::vector<ScoredPart> value_parts(std::string_view total, const ScoreTable& stored) {
  const bool macro = total.ends_with("_macro"), annotated_only = !total.starts_with("f1_strict");
  const ScoreColumn& column = stored.column("value_correct");
  const auto counts = column.for_details(value_counts);
  const auto annotated = column.for_details(is_annotated);
  std::vector<ScoredPart> parts;
  for (const ScoreFigure& row : column.rows) {
    const auto details = static_cast<size_t>(row.details);
    if (annotated_only && !annotated[details]) continue;
    const AttributeCounts& one = counts[details];
    ScoredPart& part =
        parts.emplace_back(part_of(row, 2.0 * static_cast<double>(one.vc),
                                   static_cast<double>(2 * one.vc + one.nv + one.vn + 2 * one.vw)));
    if (macro)
      part.group = (static_cast<std::int64_t>(stored.answer(row).category) << 32) + row.field;
  }
  return parts;
}

// Metrics of single answers; fields without annotation are not scored.

template <typename Score>
Rows by_field(const ScoredExample& example, Score score) {
  Rows rows;
  for (const auto& field : example.fields)
    if (field.annotated) score(field, rows);
  return rows;
}

Rows token_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    const TokenScores scores =
        field.no_value ? TokenScores{} : squad_scores(field.answer, field.references);
    const Json details{{"has_answer", !field.references.empty()}};
    // Version 1: "NULL" and the like counted as answers. Version 2: an empty answer counted as an
    // explicit absence. Version 3: thoughts were part of answers.
    constexpr const char* kVersion = "4";
    rows.push_back(row("token_f1", field.name, scores.f1, details, kVersion));
    rows.push_back(row("squad_exact", field.name, scores.exact, details, kVersion));
  });
}

std::vector<MeanTotal> token_means() {
  constexpr auto kSame = [](double stored) { return stored; };
  constexpr auto kHas = [](const Json& details) { return details.at("has_answer").get<bool>(); };
  constexpr auto kHasNone = [](const Json& details) {
    return !details.at("has_answer").get<bool>();
  };
  return {{"token_f1", "token_f1"},
          {"token_f1_has_answer", "token_f1", kSame, kHas},
          {"token_f1_no_answer", "token_f1", kSame, kHasNone},
          {"squad_exact", "squad_exact"},
          {"squad_exact_has_answer", "squad_exact", kSame, kHas},
          {"squad_exact_no_answer", "squad_exact", kSame, kHasNone}};
}

Rows exact_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    const bool right = !field.no_value && exact_match(field.answer, field.references);
    // Version 1: an empty answer counted as an explicit absence. Version 2: thoughts were part of
    // answers.
    rows.push_back(row("exact_match", field.name, right ? 1 : 0, {}, "3"));
  });
}

Rows maths_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    // an answer that is short enough may stand without a box
    const std::string said = boxed(field.answer).value_or(field.answer);
    const bool right =
        std::any_of(field.references.begin(), field.references.end(),
                    [&](const std::string& one) { return same_maths_answer(said, one); });
    rows.push_back(row("maths", field.name, right ? 1 : 0));
  });
}

void add_rouge(const ScoredField& field, const RougeScores& scores, const char* variant,
               Rows& rows) {
  const auto add = [&](const char* name, const RougeScore& score) {
    rows.push_back(row(str(name, variant), field.name, score.f1,
                       {{"precision", score.precision}, {"recall", score.recall}},
                       "2"));  // version 1: thoughts were part of answers
  };
  add("rouge_1", scores.rouge1);
  add("rouge_2", scores.rouge2);
  add("rouge_l", scores.rougel);
}

/// Rows of answers whose references contain letters that `rouge` ignores.
constexpr std::string_view kOutsideRouge = "rouge_outside";

Rows rouge_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    if (field.references.empty()) return;
    add_rouge(field, rouge(field.answer, field.references, /*stem=*/true), "", rows);
    if (std::any_of(field.references.begin(), field.references.end(), is_outside_rouge))
      rows.push_back(row(std::string(kOutsideRouge), field.name, 1, {},
                         "3"));  // version 2: only if most letters are ignored
  });
}

Rows unicode_rouge_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    if (!field.references.empty())
      add_rouge(field, rouge(field.answer, field.references, /*stem=*/true, unicode_tokens),
                "_unicode", rows);
  });
}

Rows choice_scores(const ScoredExample& example) {
  return by_field(example, [](const ScoredField& field, Rows& rows) {
    if (field.choices.empty()) return;
    const auto letter = chosen_letter(field.answer, field.choices);
    rows.push_back(row("accuracy", field.name,
                       right_choice(field.answer, field.choices, field.references) ? 1 : 0,
                       {{"letter", letter ? Json(std::string(1, *letter)) : Json()}},
                       // version 1: the first separate capital letter, even if it was no choice
                       "2"));
  });
}

Rows repetition_scores(const ScoredExample& example) {
  Rows rows;
  for (const auto& field : example.fields)
    if (!strip(field.answer).empty())  // the share is not defined without words
      rows.push_back(row("repetition", field.name, repetition(field.answer), {},
                         "2"));  // version 1: thoughts were part of answers
  return rows;
}

Rows pass_scores(const ScoredExample& example) {
  Rows rows;
  for (const auto& field : example.fields) {
    if (field.test.empty()) continue;
    if (example.failed) {
      rows.push_back(row("passed", field.name, 0,
                         {{"verdict", "failed"}, {"reason", "there is no answer"}}, "3"));
      continue;
    }
    const SandboxResult result =
        PythonSandbox().run({.program = task_program(example.text, field.answer),
                             .head = task_head(example.text),
                             .test = field.test});
    // Version 1: by the program's own output. Version 2: from the first fenced block.
    rows.push_back(row("passed", field.name, result.verdict == SandboxVerdict::passed ? 1 : 0,
                       {{"verdict", name(result.verdict)}, {"reason", result.reason}}, "3"));
  }
  return rows;
}

/// Repeats of a sample are its n draws; pass@k if every sample has at least k of them.
std::vector<ScoredPart> pass_parts(std::string_view total, const ScoreTable& stored) {
  const long k = total == "pass_at_10" ? 10 : 1;
  struct Draws {
    ScoreFigure last;
    long n = 0, good = 0;
  };
  ExampleNames& names = stored.names();
  std::map<std::pair<std::string_view, std::string_view>, Draws> tasks;  // by sample and field
  for (const ScoreFigure& row : stored.column("passed").rows) {
    Draws& draws = tasks[{names.keys[static_cast<size_t>(stored.answer(row).sample)],
                          names.fields.name(row.field)}];
    draws.last = row;
    ++draws.n;
    draws.good += row.value == 1;
  }
  std::vector<ScoredPart> parts;
  for (const auto& [task, draws] : tasks) {
    if (draws.n < k) return {};
    parts.push_back(part_of(draws.last, pass_at_k(draws.n, draws.good, k), 1));
  }
  return parts;
}

std::vector<MetricTotal> pass_totals(const ScoreTable& stored) {
  std::vector<MetricTotal> totals;
  for (const std::string_view total : {"pass_at_1", "pass_at_10"}) {
    const auto parts = pass_parts(total, stored);
    double sum = 0;
    for (const ScoredPart& part : parts) sum += part.numerator;
    if (!parts.empty())
      totals.push_back({total, sum / static_cast<double>(parts.size()), std::ssize(parts)});
  }
  return totals;
}

// Verdicts of a judge, stored by `judge`.

std::string class_in(const Json& details) { return details.at("class").get<std::string>(); }

/// Number of verdicts for each of the five classes.
JudgeCounts judged_classes(const ScoreTable& stored) {
  JudgeCounts counts;
  const std::map<std::string, long*> by_class{{"correct", &counts.correct},
                                              {"incorrect", &counts.incorrect},
                                              {"missing", &counts.missing},
                                              {"correct null", &counts.correct_null},
                                              {"hallucination", &counts.hallucination}};
  const ScoreColumn& column = stored.column("judge_class");
  const auto classes = column.for_details(class_in);
  for (const ScoreFigure& row : column.rows)
    ++*by_class.at(classes[static_cast<size_t>(row.details)]);
  return counts;
}

std::vector<MetricTotal> class_totals(const ScoreTable& stored) {
  const JudgeCounts c = judged_classes(stored);
  const std::int64_t n = c.correct + c.incorrect + c.missing + c.correct_null + c.hallucination;
  if (n == 0) return {};
  return {{"judge_f1", c.f1(), n},
          {"judge_precision", c.precision(), n},
          {"judge_recall", c.recall(), n}};
}

/// F1 = 2 right / (2 right + H + M + 2 I), as ratios of sums.
std::vector<ScoredPart> class_parts(std::string_view total, const ScoreTable& stored) {
  std::vector<ScoredPart> parts;
  const ScoreColumn& column = stored.column("judge_class");
  const auto classes = column.for_details(class_in);
  for (const ScoreFigure& row : column.rows) {
    const std::string& said = classes[static_cast<size_t>(row.details)];
    const double right = row.value, wrong = said == "incorrect", invented = said == "hallucination",
                 missing = said == "missing";
    const double precise = right + wrong + invented, recalled = right + wrong + missing;
    const bool f1 = total == "judge_f1";
    parts.push_back(part_of(row, f1 ? 2 * right : right,
                            f1                           ? precise + recalled
                            : total == "judge_precision" ? precise
                                                         : recalled));
  }
  return parts;
}

// Likelihood under a network, per token.

std::vector<ScoredPart> likelihood_parts(std::string_view, const ScoreTable& stored) {
  std::vector<ScoredPart> parts;
  const ScoreColumn& column = stored.column("likelihood");
  for (const ScoreFigure& row : column.rows) {
    const Json& details = column.details[static_cast<size_t>(row.details)];
    parts.push_back(part_of(row, details.at("log_likelihood").get<double>(),
                            details.at("tokens").get<double>()));
  }
  return parts;
}

std::vector<MetricTotal> likelihood_totals(const ScoreTable& stored) {
  double sum = 0, tokens = 0;
  const auto parts = likelihood_parts("", stored);
  for (const ScoredPart& part : parts) sum += part.numerator, tokens += part.denominator;
  if (parts.empty()) return {};
  return {{"log_likelihood", sum / tokens, std::ssize(parts)}};
}

TaskMetric rouge_metric() {
  TaskMetric metric =
      mean_metric("rouge", "ROUGE-1, 2 and L as rouge-score computes them, with stemmer",
                  "references", ByText{rouge_scores},
                  {{"rouge_l", "rouge_l"}, {"rouge_1", "rouge_1"}, {"rouge_2", "rouge_2"}});
  metric.reads.push_back({kOutsideRouge});
  return metric;
}

TaskMetric repetition_metric() {
  TaskMetric metric = mean_metric(
      "repetition",
      "number of words divided by number of different words, and share of answers above 3.5",
      "fields", ByText{repetition_scores},
      {{"repetition", "repetition"},
       {"degenerate", "repetition", [](double value) { return value > kDegenerate ? 1.0 : 0.0; }}},
      {"degenerate"}, /*right=*/{}, /*lower_is_better=*/true);
  metric.range = {1, kNoRange.most};
  metric.ranges = {{"degenerate", {}}};
  return metric;
}

/// The range of a judge's grades of single answers.
constexpr ScoreRange kGrades{1, 10};

/// A metric that is the mean of rows from a judge.
TaskMetric judged_mean(std::string_view name, std::string_view what, std::string_view total,
                       std::string_view rows, ScoreRange range = {}) {
  TaskMetric metric = mean_metric(name, what, /*needs=*/"", ByJudge{rows}, {{total, rows}});
  metric.range = range;
  metric.reads = {{rows, true}};
  return metric;
}

}  // namespace

std::vector<AttributeOutcome> attribute_outcomes(const ScoreTable& stored) {
  const ScoreColumn& column = stored.column("value_correct");
  const auto counts = column.for_details(value_counts);
  const auto annotated = column.for_details(is_annotated);
  std::map<std::tuple<std::int32_t, std::int32_t, bool>, AttributeCounts> sums;
  for (const ScoreFigure& row : column.rows) {
    const auto details = static_cast<size_t>(row.details);
    sums[{stored.answer(row).category, row.field, annotated[details]}] += counts[details];
  }
  std::vector<AttributeOutcome> outcomes;
  for (const auto& [key, sum] : sums)
    outcomes.push_back({stored.names().categories.name(std::get<0>(key)),
                        stored.names().fields.name(std::get<1>(key)), std::get<2>(key), sum});
  return outcomes;
}

ScoredExample failed_example(const SampleRow& sample) {
  std::vector<FieldAnswer> none(sample.fields.size());
  for (FieldAnswer& answer : none) answer.no_value = true;
  ScoredExample example = scored_example(sample, none);
  example.failed = true;
  return example;
}

AnswerText answer_text(const FieldAnswer& answer) {
  const auto& known = answer.thought;
  const Thought thought = known ? Thought{static_cast<std::size_t>(known->bytes), known->open}
                                : thought_of(answer.text);
  const std::string_view text = after_thought(answer.text, thought);
  const bool has = thought.bytes > 0 || thought.open || (known && known->tokens > 0);
  return {has ? answer_inside(text) : text, has && strip(text).empty()};
}

ScoredExample scored_example(const SampleRow& sample, const std::vector<FieldAnswer>& answers) {
  if (sample.fields.size() != answers.size())
    throw ConfigError(
        str("sample ", sample.key, " has ", counted(std::ssize(sample.fields), "field"),
            " in the database, its answer has ", answers.size(), ", expected as many"));
  ScoredExample example{sample.category, sample.text, {}};
  for (size_t f = 0; f < answers.size(); ++f) {
    const Json& field = sample.fields[f];
    ScoredField& out = example.fields.emplace_back();
    out.name = field.at("name").get<std::string>();
    out.annotated = field.at("annotated").get<bool>();
    out.references = field.at("references").get<std::vector<std::string>>();
    out.choices = field.value("choices", std::vector<std::string>());
    out.test = field.value("test", "");
    out.question = field.value("question", "");
    const AnswerText said = answer_text(answers[f]);
    out.answer = said.text;
    out.no_value = (answers[f].no_value && strip(out.answer).empty()) || said.empty;
  }
  return example;
}

std::string outside_rouge(const ScoreTable& stored, double least) {
  const auto outside = std::ssize(stored.column(kOutsideRouge).rows);
  const auto all = std::ssize(stored.column("rouge_l").rows);
  if (outside == 0 || static_cast<double>(outside) < least * static_cast<double>(all)) return "";
  return str(outside, " of ", counted(all, "answer"),
             " with references that have many letters outside a-z and 0-9, which rouge-score "
             "ignores");
}

const std::vector<TaskMetric>& task_metrics() {
  static const std::vector<TaskMetric> kMetrics = {
      {"value_f1",
       "F1 of attribute values, as ExtractGPT counts it and in a strict count",
       {"f1_micro", "f1_macro", "f1_strict", "f1_strict_macro"},
       "attributes",
       ByText{value_scores},
       {{"value_correct", true}},
       value_totals,
       value_parts,
       /*right_or_wrong=*/{},
       "value_correct"},
      mean_metric("token_f1", "F1 and exact match of SQuAD 2.0, with and without an answer",
                  "annotated fields", ByText{token_scores}, token_means(),
                  {"squad_exact", "squad_exact_has_answer", "squad_exact_no_answer"}, "token_f1"),
      mean_metric("exact_match", "share of answers that equal a reference character by character",
                  "annotated fields", ByText{exact_scores}, {{"exact_match", "exact_match"}},
                  {"exact_match"}, "exact_match"),
      mean_metric("maths",
                  "share of answers whose last \\boxed{} equals a reference, as a value (1/2, 0.5, "
                  "\\frac12)",
                  "annotated fields", ByText{maths_scores}, {{"maths", "maths"}}, {"maths"},
                  "maths"),
      rouge_metric(),
      mean_metric("rouge_unicode",
                  "ROUGE-1, 2 and L for words of all scripts; rouge-score reads only a-z and 0-9",
                  "references", ByText{unicode_rouge_scores},
                  {{"rouge_l_unicode", "rouge_l_unicode"},
                   {"rouge_1_unicode", "rouge_1_unicode"},
                   {"rouge_2_unicode", "rouge_2_unicode"}}),
      mean_metric("accuracy", "share of multiple-choice questions answered with the right letter",
                  "choices", ByText{choice_scores}, {{"accuracy", "accuracy"}}, {"accuracy"},
                  "accuracy"),
      repetition_metric(),
      {"pass_at_k",
       "share of programs that pass their tests, run in a sandbox (bubblewrap)",
       {"pass_at_1", "pass_at_10"},
       "tests",
       ByRunning{pass_scores},
       {{"passed"}},
       pass_totals,
       pass_parts,
       /*right_or_wrong=*/{},
       "passed"},
      {"judge_f1",
       "values that a judge put into five classes (HPD)",
       {"judge_f1", "judge_precision", "judge_recall"},
       /*needs=*/"",
       ByJudge{"judge_class"},
       {{"judge_class", true}},
       class_totals,
       class_parts},
      judged_mean("judge_score", "a judge's grades from 1 to 10", "judge_score", "judge_score",
                  kGrades),
      judged_mean("judge_win_rate", "pairs that a judge decided for the arm, a tie as half",
                  "judge_win_rate", "judge_preference"),
      judged_mean("judge_template", "numbers that a judge gave by your own template",
                  "judge_template", "judge_template", kNoRange),
      {.name = "likelihood",
       .what = "mean log-probability of a token of the answers to open questions, under the "
               "network of `model`",
       .totals = {"log_likelihood"},
       .needs = "open questions with an answer",
       .source = ByNetwork{},
       .reads = {{"likelihood", true}},
       .total = likelihood_totals,
       .parts = likelihood_parts,
       .range = kNoRange},
  };
  return kMetrics;
}

const TaskMetric& find_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const TaskMetric& metric : task_metrics()) {
    if (metric.name == name) return metric;
    names.emplace_back(metric.name);
  }
  throw ConfigError(str("unknown metric '", name, "'", known_names(name, names)));
}

bool lower_is_better(std::string_view total) {
  return std::any_of(task_metrics().begin(), task_metrics().end(), [&](const TaskMetric& metric) {
    return metric.lower_is_better &&
           std::find(metric.totals.begin(), metric.totals.end(), total) != metric.totals.end();
  });
}

ScoreRange range_of(std::string_view total) {
  for (const TaskMetric& metric : task_metrics()) {
    for (const auto& [name, range] : metric.ranges)
      if (name == total) return range;
    if (std::find(metric.totals.begin(), metric.totals.end(), total) != metric.totals.end())
      return metric.range;
  }
  return kNoRange;
}

bool computes(std::string_view total) {
  return std::any_of(task_metrics().begin(), task_metrics().end(), [&](const TaskMetric& metric) {
    return std::find(metric.totals.begin(), metric.totals.end(), total) != metric.totals.end();
  });
}

bool needs_judge(std::string_view total) {
  return std::any_of(task_metrics().begin(), task_metrics().end(), [&](const TaskMetric& metric) {
    return metric.by<ByJudge>() &&
           std::find(metric.totals.begin(), metric.totals.end(), total) != metric.totals.end();
  });
}

std::vector<const TaskMetric*> metrics_of(const DatasetEntry& dataset) {
  std::vector<const TaskMetric*> metrics;
  for (const TaskMetric& metric : task_metrics())
    if (metric.by<ByText>() &&
        std::any_of(metric.totals.begin(), metric.totals.end(), [&](std::string_view total) {
          return std::find(dataset.metrics.begin(), dataset.metrics.end(), total) !=
                 dataset.metrics.end();
        }))
      metrics.push_back(&metric);
  return metrics;
}

}  // namespace pardec
