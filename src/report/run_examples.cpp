#include "src/report/run_examples.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "src/findings/chosen_lines.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/metric_title.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// One arm of the current dataset.
struct ArmAnswers {
  const ArmFinding* finding;
  std::optional<std::size_t> baseline;  ///< index among the arms of the dataset
  const RunFigures* figures;
  const ScoreTable* scores;
  std::map<JobKey, const Trace*> traces;
  std::vector<std::pair<std::int32_t, std::int32_t>> examples;  ///< first answers: job and example
};

const Answered* first_answer(const RunAnswers& answers, const std::string& sample) {
  const auto found = answers.by_sample.find({sample, 0});
  return found == answers.by_sample.end() ? nullptr : &found->second;
}

/// The metrics of a dataset, including those that run code.
std::vector<const TaskMetric*> all_metrics_of(const DatasetEntry& dataset) {
  std::vector<const TaskMetric*> metrics;
  for (const TaskMetric& metric : task_metrics())
    if (std::any_of(metric.totals.begin(), metric.totals.end(), [&](std::string_view total) {
          return std::find(dataset.metrics.begin(), dataset.metrics.end(), total) !=
                 dataset.metrics.end();
        }))
      metrics.push_back(&metric);
  return metrics;
}

bool absent(const std::string& text) { return text.empty() || text == "n/a" || text == "None"; }

ReportField report_field(const Json& field) {
  ReportField out;
  out.name = field.at("name").get<std::string>();
  out.question = field.value("question", "");
  out.choices = field.value("choices", std::vector<std::string>());
  out.annotated = field.value("annotated", true);
  for (const auto& reference : field.value("references", std::vector<std::string>()))
    if (!absent(reference)) out.gold.push_back(reference);
  return out;
}

/// `arms`: the answers of each arm.
std::vector<ReportField> report_fields(const SampleRow& sample,
                                       const std::vector<RunAnswers>& arms) {
  std::vector<ReportField> fields;
  for (const auto& field : sample.fields) fields.push_back(report_field(field));
  if (!fields.empty()) return fields;
  for (const RunAnswers& arm : arms)  // the database has no references
    if (const Answered* answer = first_answer(arm, sample.key)) {
      for (const auto& field : answer->generation.row.fields)
        fields.push_back({field.name, "", {}, {}, false});
      if (!fields.empty()) return fields;
    }
  return fields;
}

const FieldAnswer* answer_to(const Answered& answer, const std::string& field) {
  for (const auto& one : answer.generation.row.fields)
    if (one.name == field) return &one;
  return nullptr;
}

/// The result of a binary metric for one field; unknown if answer and reference are both absent.
Correctness correctness_of(const ReportField& field, const std::string& shown,
                           const GenerationRow& row,
                           const std::vector<const TaskMetric*>& metrics) {
  if (!field.annotated || (shown.empty() && field.gold.empty())) return Correctness::unknown;
  for (const TaskMetric* metric : metrics)
    for (const ScoreRow& score : row.scores)
      if (score.metric == metric->right && score.field == field.name)
        return score.value == 1   ? Correctness::right
               : score.value == 0 ? Correctness::wrong
                                  : Correctness::unknown;
  return Correctness::unknown;
}

ReportValue report_value(const ReportField& field, const Answered& answer, const Answered* baseline,
                         const std::vector<const TaskMetric*>& metrics) {
  const FieldAnswer* ours = answer_to(answer, field.name);
  const std::string text = ours ? ours->text : "";
  ReportValue value{absent(text) ? "" : text};
  if (baseline && !baseline->generation.row.error) {
    const FieldAnswer* theirs = answer_to(*baseline, field.name);
    value.differs = (theirs ? theirs->text : "") != text;
  }
  value.correctness = correctness_of(field, value.text, answer.generation.row, metrics);
  return value;
}

/// Stored scores by name, of the whole answer or of its only field.
std::vector<std::string> shown_scores(const GenerationRow& row,
                                      const std::vector<const TaskMetric*>& metrics) {
  std::vector<std::string> shown;
  for (const ScoreRow& score : row.scores) {
    if (score.metric == "parsed" || !(score.field.empty() || row.fields.size() == 1)) continue;
    const bool of_dataset =
        std::any_of(metrics.begin(), metrics.end(), [&](const TaskMetric* metric) {
          return metric->name == score.metric || metric->right == score.metric ||
                 std::any_of(metric->totals.begin(), metric->totals.end(),
                             [&](auto total) { return total.starts_with(score.metric); });
        });
    if (of_dataset) shown.push_back(str(metric_title(score.metric), " ", fixed(score.value, 3)));
  }
  return shown;
}

/// Adds where each turn of a conversation begins, and how it ended.
void add_turns(ReportAnswer& out, const GenerationRow& row) {
  std::vector<std::string> stops;
  std::size_t at = 0;
  for (const FieldAnswer& field : row.fields) {
    stops.push_back(str(field.stop, " (", field.name, ")"));
    at = out.text.find(field.text, at);
    if (at == std::string::npos) break;
    out.turns.emplace_back(at, field.name);
    at += field.text.size();
  }
  if (out.turns.size() < row.fields.size()) out.turns.clear();
  if (stops.size() == row.fields.size()) out.stop = join(stops, ", ");
}

ReportAnswer report_answer(const ArmAnswers& arm, const Answered& answer, const Answered* baseline,
                           const std::vector<ReportField>& fields,
                           const std::vector<const TaskMetric*>& metrics) {
  const GenerationRow& row = answer.generation.row;
  ReportAnswer out;
  out.arm = arm.finding->run.run.label;
  out.is_baseline = arm.finding->is_baseline;
  out.text = row.text;
  out.stop = row.stop;
  out.error = row.error.value_or("");
  if (row.error) return out;
  out.scores = shown_scores(row, metrics);
  if (arm.finding->run.run.form == "free" && row.fields.size() > 1) add_turns(out, row);
  const auto cut = [](const std::string& stop) { return stop == "limit" || stop == "context"; };
  out.limit = cut(row.stop) || std::any_of(row.fields.begin(), row.fields.end(),
                                           [&](const auto& field) { return cut(field.stop); });
  out.unparsed = std::any_of(row.scores.begin(), row.scores.end(), [](const ScoreRow& score) {
    return score.metric == "parsed" && score.value == 0;
  });
  for (const ReportField& field : fields)
    out.values.push_back(report_value(field, answer, baseline, metrics));
  out.differs = row.identity ? !row.identity->identical
                             : std::any_of(out.values.begin(), out.values.end(),
                                           [](const ReportValue& value) { return value.differs; });
  return out;
}

std::string token_text(Token id, const Tokenizer* tokenizer) {
  const std::string_view bytes = tokenizer ? tokenizer->bytes(id) : "";
  const std::string_view name = tokenizer ? tokenizer->token(id) : "";
  return !bytes.empty() ? visible_text(bytes) : !name.empty() ? std::string(name) : str("#", id);
}

std::vector<TokenLine> token_lines(const ArmAnswers& arm, const RunAnswers& answers,
                                   const Answered& answer, const Tokenizer* tokenizer) {
  const auto trace = arm.traces.find(answer.job->key);
  std::vector<TokenLine> lines;
  for (ChosenLine& chosen :
       chosen_lines(answers, answer, trace == arm.traces.end() ? nullptr : trace->second)) {
    TokenLine& line = lines.emplace_back();
    line.field = std::move(chosen.field);
    line.passes = std::move(chosen.passes);
    for (const Token id : chosen.tokens) line.texts.push_back(token_text(id, tokenizer));
    for (const auto& [pass, id] : chosen.rejected)
      line.rejected.emplace_back(pass, token_text(id, tokenizer));
  }
  return lines;
}

// Drawing examples.

enum Kind : std::size_t { kFailed, kLimit, kDiffering, kWrong, kRest, kKinds };
constexpr std::array<std::string_view, kKinds> kKindNames{
    "failed", "hit a limit", "differ from the baseline", "are wrong", "are none of these"};

/// Properties of an example's first answers; with no other member set, it belongs to the rest.
struct Marks {
  bool answered = false, failed = false, limit = false, differs = false, wrong = false;
  bool unmarked = false;  ///< it has an answer that was not compared with the baseline's

  Kind kind() const {
    return failed ? kFailed : limit ? kLimit : differs ? kDiffering : wrong ? kWrong : kRest;
  }
};

bool is_first(const AnswerFigures& answer) { return answer.repeat == 0; }

void mark_answers(std::vector<Marks>& marks, const ArmAnswers& arm, const RunFigures* baseline) {
  std::optional<AnswerPlaces> theirs;
  for (const AnswerFigures& answer : arm.figures->answers) {
    if (!is_first(answer)) continue;
    Marks& mark = marks[static_cast<std::size_t>(answer.example)];
    mark.answered = true;
    mark.failed = mark.failed || answer.failed;
    if (answer.failed) continue;
    mark.limit = mark.limit || answer.at_limit || answer.fields_at_limit > 0;
    mark.differs = mark.differs || !answer.identical.value_or(true);
    if (answer.identical || !baseline) continue;
    if (!theirs) theirs.emplace(*baseline);
    const AnswerFigures* other = theirs->find(answer.example, 0);
    mark.unmarked = mark.unmarked || (other && !other->failed);
  }
}

/// Whether a metric has a row for the same field of the same answer.
bool has_row(const ScoreColumn& column, const ScoreFigure& like) {
  const auto [begin, end] = std::equal_range(
      column.rows.begin(), column.rows.end(), like,
      [](const ScoreFigure& a, const ScoreFigure& b) { return a.answer < b.answer; });
  return std::any_of(begin, end, [&](const ScoreFigure& row) { return row.field == like.field; });
}

/// Marks wrong answers among the unmarked ones, by the first binary metric, as correctness_of does.
void mark_wrong(std::vector<Marks>& marks, const ArmAnswers& arm,
                const std::vector<const TaskMetric*>& metrics) {
  std::vector<const ScoreColumn*> before;
  for (const TaskMetric* metric : metrics) {
    if (metric->right.empty()) continue;
    const ScoreColumn& column = arm.scores->column(metric->right);
    const auto annotated = column.for_details<bool>([](const Json& details) {
      return !details.is_object() || details.value("annotated", true);
    });
    for (const ScoreFigure& row : column.rows) {
      if (row.value != 0 || !annotated[static_cast<std::size_t>(row.details)]) continue;
      const AnswerFigures& answer = arm.figures->answers[static_cast<std::size_t>(row.answer)];
      Marks& mark = marks[static_cast<std::size_t>(answer.example)];
      if (mark.kind() == kRest && is_first(answer) &&
          std::none_of(before.begin(), before.end(),
                       [&](const ScoreColumn* other) { return has_row(*other, row); }))
        mark.wrong = true;
    }
    before.push_back(&column);
  }
}

/// Approximate size of an example in the page, in bytes.
std::size_t bytes_of(const ReportExample& example) {
  std::size_t bytes = 1000 + example.text.size();
  for (const auto& field : example.fields) {
    bytes += 100 + field.question.size();
    for (const auto& texts : {field.choices, field.gold})
      for (const auto& text : texts) bytes += text.size();
  }
  for (const auto& answer : example.answers) {
    bytes += 500 + answer.text.size() + answer.error.size();
    for (const auto& value : answer.values) bytes += 80 + value.text.size();
    for (const auto& line : answer.lines) {
      for (const auto& text : line.texts) bytes += text.size() + (line.passes.empty() ? 3 : 7);
      for (const auto& [pass, text] : line.rejected) bytes += text.size() + 9;
    }
  }
  return bytes;
}

/// Indices of `kinds` in drawing order.
std::vector<std::size_t> drawing_order(const std::vector<Kind>& kinds, std::uint64_t seed) {
  std::array<std::vector<std::size_t>, kKinds> of_kind;
  for (std::size_t i = 0; i < kinds.size(); ++i) of_kind[kinds[i]].push_back(i);
  Rng rng(seed);
  for (auto& indices : of_kind)
    for (std::size_t i = indices.size(); i > 1; --i)
      std::swap(indices[i - 1], indices[rng.below(i)]);
  std::vector<std::size_t> order;
  for (std::size_t turn = 0; order.size() < kinds.size(); ++turn)
    for (const auto& indices : of_kind)
      if (turn < indices.size()) order.push_back(indices[turn]);
  return order;
}

std::vector<ArmAnswers> arms_of(const Measurements& measured, const Comparison& comparison,
                                const std::string& dataset, const std::vector<Trace>& traces) {
  std::vector<ArmAnswers> arms;
  std::map<std::size_t, std::size_t> place;  // index in the comparison -> index here
  for (std::size_t a = 0; a < comparison.arms.size(); ++a) {
    const ArmFinding& finding = comparison.arms[a];
    if (finding.run.run.dataset.name != dataset) continue;
    place[a] = arms.size();
    ArmAnswers& arm = arms.emplace_back(
        ArmAnswers{&finding, {}, &measured.figures.runs[a], &measured.scores[a], {}, {}});
    for (const Trace& trace : traces)  // the first trace of a job is that of its first repeat
      if (trace.model.empty() && (trace.arm.empty() || trace.arm == finding.run.run.label) &&
          (trace.dataset.empty() || trace.dataset == dataset) &&
          trace.decoder == finding.run.run.decoder)
        arm.traces.emplace(trace.examples, &trace);
    for (const AnswerFigures& answer : arm.figures->answers)
      if (is_first(answer)) arm.examples.emplace_back(answer.job, answer.example);
    std::sort(arm.examples.begin(), arm.examples.end());
  }
  for (ArmAnswers& arm : arms)
    if (arm.finding->baseline) arm.baseline = place.at(*arm.finding->baseline);
  return arms;
}

/// One dataset's examples by their indices in Figures::examples.
class DatasetExamples {
 public:
  DatasetExamples(Store& store, const Figures& figures, const std::vector<ArmAnswers>& arms,
                  const std::vector<const TaskMetric*>& metrics)
      : store_(store),
        figures_(figures),
        arms_(arms),
        metrics_(metrics),
        dataset_(store.dataset_of(arms.front().finding->run.run.id)) {
    for (const TaskMetric* metric : metrics) judged_ = judged_ || !metric->right.empty();
  }

  /// Examples with an answer, and their kinds.
  std::vector<std::pair<std::size_t, Kind>> all() {
    std::vector<Marks> marks(figures_.examples.size());
    for (const ArmAnswers& arm : arms_)
      mark_answers(marks, arm, arm.baseline ? arms_[*arm.baseline].figures : nullptr);
    compare_texts(marks);
    for (const ArmAnswers& arm : arms_) mark_wrong(marks, arm, metrics_);
    std::vector<std::pair<std::size_t, Kind>> kinds;
    for (std::size_t e = 0; e < marks.size(); ++e)
      if (marks[e].answered) kinds.emplace_back(e, marks[e].kind());
    return kinds;
  }

  /// The example, with the tokens of its answers.
  ReportExample with_tokens(std::size_t example, const Tokenizer* tokenizer) {
    std::vector<RunAnswers> answers;
    for (const ArmAnswers& arm : arms_)
      answers.push_back(read_answers(store_, arm.finding->run.run.id, in_its_job(arm, example)));
    const SampleRow sample = store_.samples(dataset_, {{figures_.examples[example].id}}).at(0);
    ReportExample out = report_example(sample, answers);
    for (std::size_t a = 0, next = 0; a < arms_.size(); ++a)
      if (const Answered* answer = first_answer(answers[a], sample.key)) {
        ReportAnswer& one = out.answers[next++];
        if (one.error.empty()) one.lines = token_lines(arms_[a], answers[a], *answer, tokenizer);
      }
    return out;
  }

 private:
  /// The samples that were answered in the same job as an example.
  std::vector<RowId> in_its_job(const ArmAnswers& arm, std::size_t example) const {
    std::vector<RowId> ids;
    const auto own = std::find_if(arm.examples.begin(), arm.examples.end(), [&](const auto& one) {
      return one.second == static_cast<std::int32_t>(example);
    });
    if (own == arm.examples.end()) return ids;
    for (auto one = std::lower_bound(arm.examples.begin(), arm.examples.end(),
                                     std::pair(own->first, std::int32_t{0}));
         one != arm.examples.end() && one->first == own->first; ++one)
      ids.push_back(figures_.examples[static_cast<std::size_t>(one->second)].id);
    return ids;
  }

  ReportExample report_example(const SampleRow& sample, const std::vector<RunAnswers>& answers) {
    ReportExample example{shown_name(arms_.front().finding->run.run.dataset),
                          sample.key,
                          sample.category,
                          sample.text,
                          !judged_,
                          report_fields(sample, answers),
                          {}};
    for (const auto& field : example.fields) example.open = example.open && field.gold.empty();
    for (std::size_t a = 0; a < arms_.size(); ++a)
      if (const Answered* answer = first_answer(answers[a], sample.key))
        example.answers.push_back(report_answer(
            arms_[a], *answer,
            arms_[a].baseline ? first_answer(answers[*arms_[a].baseline], sample.key) : nullptr,
            example.fields, metrics_));
    return example;
  }

  /// Compares the texts of examples whose kind depends on it, and whose answers were not compared
  /// by a run.
  void compare_texts(std::vector<Marks>& marks) {
    constexpr std::size_t kAtOnce = 500;
    std::vector<std::size_t> asked;
    for (std::size_t e = 0; e < marks.size(); ++e)
      if (marks[e].unmarked && !marks[e].failed && !marks[e].limit && !marks[e].differs)
        asked.push_back(e);
    for (std::size_t first = 0; first < asked.size(); first += kAtOnce) {
      const std::size_t end = std::min(asked.size(), first + kAtOnce);
      std::vector<RowId> ids;
      for (std::size_t i = first; i < end; ++i) ids.push_back(figures_.examples[asked[i]].id);
      std::vector<RunAnswers> answers;
      for (const ArmAnswers& arm : arms_)
        answers.push_back(read_answers(store_, arm.finding->run.run.id, ids));
      std::size_t i = first;
      for (const SampleRow& sample : store_.samples(dataset_, ids)) {
        const ReportExample example = report_example(sample, answers);
        marks[asked[i++]].differs =
            std::any_of(example.answers.begin(), example.answers.end(),
                        [](const ReportAnswer& answer) { return answer.differs; });
      }
    }
  }

  Store& store_;
  const Figures& figures_;
  const std::vector<ArmAnswers>& arms_;
  const std::vector<const TaskMetric*>& metrics_;
  RowId dataset_;
  bool judged_ = false;  ///< whether there is a binary metric
};

}  // namespace

Examples draw_examples(Store& store, const Measurements& measured, const Comparison& comparison,
                       const std::vector<Trace>& traces, const ExampleLimits& limits) {
  Examples out;
  std::vector<std::string> datasets;
  for (const ArmFinding& arm : comparison.arms)
    if (std::find(datasets.begin(), datasets.end(), arm.run.run.dataset.name) == datasets.end())
      datasets.push_back(arm.run.run.dataset.name);
  const auto tokenizer = tokenizer_of(comparison.arms.front().run.run.model);
  const double budget =
      limits.megabytes * 1e6 / static_cast<double>(std::max<std::size_t>(1, datasets.size()));
  for (const auto& dataset : datasets) {
    if (limits.per_dataset == 0) break;
    const std::vector<ArmAnswers> arms = arms_of(measured, comparison, dataset, traces);
    const auto metrics = all_metrics_of(stored_dataset(dataset));
    DatasetExamples examples(store, measured.figures, arms, metrics);
    const auto found = examples.all();
    std::vector<Kind> kinds;
    for (const auto& [example, kind] : found) kinds.push_back(kind);

    std::map<std::size_t, ReportExample> drawn;  // in the dataset's order
    std::array<std::size_t, kKinds> shown{}, all{};
    for (const Kind kind : kinds) ++all[kind];
    double bytes = 0;
    bool full = false;
    for (const std::size_t i :
         drawing_order(kinds, derive_seed(limits.seed, str("examples ", dataset)))) {
      if (drawn.size() == static_cast<std::size_t>(limits.per_dataset)) break;
      ReportExample example =
          examples.with_tokens(found[i].first, tokenizer ? &*tokenizer : nullptr);
      bytes += static_cast<double>(bytes_of(example));
      if (!drawn.empty() && bytes > budget) {
        full = true;
        break;
      }
      drawn.emplace(i, std::move(example));
      ++shown[kinds[i]];
    }
    for (auto& [i, example] : drawn) out.examples.push_back(std::move(example));

    std::vector<std::string> parts;
    for (std::size_t kind = 0; kind < kKinds; ++kind)
      if (all[kind])
        parts.push_back(str(shown[kind], " of ", all[kind], " that ", kKindNames[kind]));
    std::string note = str(shown_name(arms.front().finding->run.run.dataset), ": ", drawn.size(),
                           " of ", counted(std::ssize(found), "example"));
    if (drawn.size() < found.size())
      note += str(", drawn with seed ", limits.seed, ": ", join(parts, ", "), ". ",
                  full ? str("More would make the page larger than ", limits.megabytes,
                             " MB: `examples_mb`, with `examples` ", found.size(), ", shows all")
                       : str("`examples` ", found.size(), " shows all"));
    out.notes.push_back(note + ".");
    if (arms.front().finding->run.run.oracle == "references")
      out.notes.push_back(dataset + ": the answers were forced, so they are the gold values.");
    if (arms.front().finding->run.run.repeats > 1)
      out.notes.push_back(dataset + ": the answers of the first repeat.");
  }
  return out;
}

}  // namespace pardec
