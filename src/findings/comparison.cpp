#include "src/findings/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "datasets/dataset.hpp"
#include "metrics/attribute_f1.hpp"
#include "src/findings/answer_state.hpp"
#include "src/findings/responses.hpp"
#include "src/findings/roofline_share.hpp"
#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"
#include "src/findings/warnings.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/store/invocations.hpp"
#include "src/store/sqlite.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double ratio(std::int64_t part, std::int64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : kNone;
}

/// ConfigError: no arm has this label. Empty: each run has its own baseline.
void check_baseline(const std::vector<RunSummary>& runs, const std::string& label) {
  std::vector<std::string> labels;
  for (const auto& run : runs) labels.push_back(run.run.label);
  if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end())
    throw ConfigError(
        str("`baseline`: no arm is labelled '", label, "'", known_names(label, labels)));
}

std::map<std::pair<std::string, std::string>, std::string> not_applicable_in(
    const std::vector<RunSummary>& runs) {
  std::map<std::pair<std::string, std::string>, std::string> reasons;
  for (const auto& run : runs)
    if (run.run.experiment)
      for (const Json& one : run.run.experiment->json.value(kNotApplicable, Json::array()))
        reasons[{one.at("dataset").get<std::string>(), one.at("arm").get<std::string>()}] =
            one.at("reason").get<std::string>();
  return reasons;
}

/// The responses to the prompts of jobs without an error.
std::vector<ResponseCounts> response_counts(const RunFigures& run) {
  std::vector<std::int64_t> fields(run.jobs.size());
  for (const AnswerFigures& answer : run.answers)
    fields[static_cast<size_t>(answer.job)] += answer.fields;
  std::vector<ResponseCounts> counts;
  for (size_t j = 0; j < run.jobs.size(); ++j) {
    const JobFigures& job = run.jobs[j];
    if (job.failed) continue;
    const std::int64_t answers = run.summary.run.form == "json" ? 1 : fields[j];
    for (ResponseCounts& one : responses_of(job, job.turns, answers))
      counts.push_back(std::move(one));
  }
  return counts;
}

/// Adds the columns of the arms' decoders.
void add_own_columns(Comparison& comparison, const std::vector<RunFigures>& runs) {
  std::vector<std::vector<ResponseCounts>> counts;  // by arm; empty: no decoder has columns
  for (const DecoderEntry& entry : decoders()) {
    const bool takes_part =
        std::any_of(comparison.arms.begin(), comparison.arms.end(),
                    [&](const ArmFinding& arm) { return arm.run.run.decoder == entry.name; });
    if (!takes_part || entry.own_columns.columns.empty()) continue;
    comparison.own.push_back(&entry);
    if (counts.empty())
      for (const RunFigures& run : runs) counts.push_back(response_counts(run));
    for (size_t a = 0; a < runs.size(); ++a)
      comparison.details[a].own.push_back(
          entry.own_columns.values(comparison.arms[a].run.run.decoder, counts[a]));
  }
}

Interval tokens_per_forward(const RunFigures& run, double confidence) {
  std::vector<BlockPair> jobs;
  for (const JobFigures& job : run.jobs)
    if (!job.failed && job.forwards > 0)
      jobs.push_back({static_cast<double>(job.chosen), static_cast<double>(job.forwards)});
  Interval tokens =
      jobs.empty() ? Interval{kNone, kNone, kNone} : ratio_of_totals(jobs, confidence);
  tokens.estimate = ratio(run.summary.totals.chosen, run.summary.totals.forwards);
  return tokens;
}

std::optional<Departure> departure_of(const RunFigures& figures) {
  const RunSummary& run = figures.summary;
  if (run.run.oracle || run.identical >= run.compared) return std::nullopt;
  std::vector<double> gaps;
  Departure departure{run.compared - run.identical, run.compared, {}, {}, 0};
  for (const AnswerFigures& answer : figures.answers) {
    if (answer.identical.value_or(true)) continue;
    if (answer.gap)
      gaps.push_back(*answer.gap);
    else
      ++departure.without_gap;
  }
  if (!gaps.empty()) {
    departure.least_gap = *std::min_element(gaps.begin(), gaps.end());
    departure.median_gap = quantile(std::move(gaps), 0.5);
  }
  return departure;
}

std::vector<AttributeFinding> attributes_of(const ScoreTable& scores) {
  std::map<std::string, std::vector<AttributeOutcome>> outcomes;
  for (AttributeOutcome& one : attribute_outcomes(scores))
    outcomes[one.attribute].push_back(std::move(one));
  std::vector<AttributeFinding> findings;
  for (const auto& [attribute, of_attribute] : outcomes) {
    long values = 0;
    for (const auto& one : of_attribute) values += one.counts.vn + one.counts.vc + one.counts.vw;
    findings.push_back({attribute, values, extractgpt_f1(of_attribute).micro_f1});
  }
  return findings;
}

/// The first scores of the datasets of these runs.
std::vector<std::string_view> first_totals_from_text(const std::vector<RunSummary>& runs) {
  std::vector<std::string_view> first;
  const auto all = totals_from_text(runs);
  for (const RunSummary& run : runs)
    for (const std::string_view metric : stored_dataset(run.run.dataset.name).metrics)
      if (std::find(all.begin(), all.end(), metric) != all.end()) {
        if (std::find(first.begin(), first.end(), metric) == first.end()) first.push_back(metric);
        break;
      }
  return first;
}

ArmFinding finding_of(const RunFigures& figures, const ScoreTable& scores, double confidence) {
  const RunSummary& run = figures.summary;
  ArmFinding arm;
  arm.run = run;
  arm.jobs = {ratio(run.measured.job_passes, run.measured.passes), run.run.batch_size};
  arm.streams = ratio(run.measured.stream_passes, run.measured.passes);
  const Json& shape = run.run.model.shape;
  const auto layers =
      shape.is_object() ? shape.value("expert_layers", std::int64_t{0}) : std::int64_t{0};
  arm.experts = ratio(run.measured.experts_read, run.measured.passes * layers);
  arm.stack = {ratio(run.generations, run.jobs),
               stack_asked(find_decoder(run.run.decoder), run.run.options)};
  add_examples_per_second(arm, figures.measured, confidence);
  arm.likeness = arm.exact_match = kNone;
  arm.state = state_of(figures, scores);
  return arm;
}

/// `allowed` and `own` are added later.
ArmDetails details_of(const RunFigures& figures, const ScoreTable& scores, const ArmFinding& arm,
                      const ArmFinding* baseline, double confidence) {
  ArmDetails details;
  details.speeds = speeds_of(arm, baseline, figures);
  details.tokens_per_forward = tokens_per_forward(figures, confidence);
  details.attributes = attributes_of(scores);
  details.emitted = figures.summary.totals.emitted;
  return details;
}

std::vector<RunSummary> summaries_of(const Figures& figures) {
  std::vector<RunSummary> runs;
  for (const RunFigures& run : figures.runs) runs.push_back(run.summary);
  return runs;
}

/// The examples that a run answered.
std::vector<RowId> answered_in(const Figures& figures, const RunFigures& run) {
  std::set<std::int32_t> examples;
  for (const AnswerFigures& answer : run.answers) examples.insert(answer.example);
  std::vector<RowId> ids;
  for (const std::int32_t example : examples)
    ids.push_back(figures.examples[static_cast<size_t>(example)].id);
  return ids;
}

void compare_with(Store& store, const Figures& figures, const RunFigures& theirs,
                  const RunFigures& ours, ArmFinding& arm, double confidence) {
  const RunSummary& run = arm.run;
  const RunRow& baseline = theirs.summary.run;
  const bool ids = same_ids(baseline.model, run.run.model);
  arm.speedup = speedup_of({baseline, theirs.measured}, {run.run, ours.measured}, confidence);
  const auto agreement = [&](auto add) {
    return agreement_of(store, baseline.id, run.run.id, answered_in(figures, ours), add).share();
  };
  arm.likeness = !run.run.oracle ? ratio(run.identical, run.compared)
                 : ids           ? agreement(add_unforced)
                                 : kNone;
  if (ids && both_ask_one_by_one(baseline, run.run)) arm.exact_match = agreement(add_exact);
  arm.departure = departure_of(ours);
}

/// `scores`: the totals that get intervals and differences.
Overview overview_of(Store& store, const std::string& invocation, const CompareOptions& options,
                     const Measurements& measured, const std::vector<RunSummary>& runs,
                     std::vector<std::string_view> scores) {
  const double confidence = options.confidence;
  const std::vector<RunFigures>& figures = measured.figures.runs;
  check_baseline(runs, options.baseline);
  Overview overview;
  overview.db = store.path().string();
  overview.invocation = invocation;
  overview.confidence = confidence;
  overview.margin = options.margin;
  overview.scores = std::move(scores);
  overview.not_applicable = not_applicable_in(runs);
  overview.unit = stored_dataset(runs.front().run.dataset.name).unit;
  for (size_t a = 0; a < runs.size(); ++a) {
    if (stored_dataset(runs[a].run.dataset.name).unit != overview.unit) overview.unit = "examples";
    overview.arms.push_back(finding_of(figures[a], measured.scores[a], confidence));
    overview.stacks = overview.stacks || overview.arms.back().stack.asked > 1;
  }
  // Forced answers have no scores, and scores of the free arms would have nothing to be compared
  // with.
  const bool scored = !overview.forced();
  for (size_t a = 0; a < runs.size(); ++a) {
    ArmFinding& arm = overview.arms[a];
    const RunSummary* found = find_baseline(runs, runs[a], options.baseline);
    if (found) {
      arm.baseline = static_cast<size_t>(found - runs.data());
      ArmFinding& baseline = overview.arms[*arm.baseline];
      baseline.is_baseline = true;
      compare_with(store, measured.figures, figures[*arm.baseline], figures[a], arm, confidence);
      overview.exact_matches =
          overview.exact_matches || both_ask_one_by_one(baseline.run.run, arm.run.run);
    }
    if (!scored) continue;
    arm.scores =
        score_findings(measured.scores[a], found ? &measured.scores[*arm.baseline] : nullptr,
                       overview.scores, options.margin, confidence);
    if (found && gave_same_answers(arm.run, found->run))  // other examples have the same scores
      for (auto& [name, score] : arm.scores)
        if (score.difference && score.difference->estimate == 0 &&
            std::isfinite(score.difference->low))
          score.difference->low = score.difference->high = 0;
  }
  adjust_p_values(overview.arms);
  overview.machines = store.machines(invocation);
  overview.warnings = warnings_of(overview);
  return overview;
}

}  // namespace

Interval with_ends_of(Interval interval, std::int64_t units) {
  if (units < kFewestBlocks) interval.low = interval.high = kNone;
  return interval;
}

Interval interval_over(const std::vector<BlockPair>& blocks, double confidence) {
  return with_ends_of(ratio_of_totals(blocks, confidence), std::ssize(blocks));
}

void check_compare_options(const CompareOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    throw ConfigError(
        str("`confidence_level` is ", options.confidence, ", expected between 0 and 1"));
  if (!(options.margin >= 0))
    throw ConfigError(str("`margin` is ", options.margin, ", expected 0 or more"));
}

namespace {

/// If no score can differ by the margin, every answer counts as equally good.
void check_margin(double margin, const std::vector<std::string_view>& scores) {
  double widest = 0;
  for (const std::string_view score : scores) {
    const ScoreRange range = range_of(score);
    widest = std::max(widest, range.most - range.least);
  }
  if (widest > 0 && margin >= widest)
    throw ConfigError(str("`margin` is ", margin, ", expected less than ", widest,
                          ", as these scores cannot differ by more; 0.05 is five points of 100"));
}

}  // namespace

ScoreFinding::Verdict ScoreFinding::verdict(double margin) const {
  if (!difference) return Verdict::open;
  const double least = lower_is_better ? -difference->high : difference->low,  // least gain
      most = lower_is_better ? -difference->low : difference->high;
  if (least > -margin) return Verdict::not_worse;
  return most < -margin ? Verdict::worse : Verdict::open;
}

Measurements measurements_of(Store& store, const std::string& invocation) {
  const Snapshot snapshot(store.database());
  Measurements measured{figures_of(store, invocation), {}};
  measured.scores = read_scores(store, measured.figures);
  return measured;
}

std::vector<std::string> Overview::oracles() const {
  std::vector<std::string> all;
  for (const ArmFinding& arm : arms)
    if (const auto& oracle = arm.run.run.oracle;
        oracle && std::find(all.begin(), all.end(), *oracle) == all.end())
      all.push_back(*oracle);
  return all;
}

Overview overview(Store& store, const std::string& invocation, const CompareOptions& options) {
  const Measurements measured = measurements_of(store, invocation);
  const std::vector<RunSummary> runs = summaries_of(measured.figures);
  return overview_of(store, invocation, options, measured, runs, first_totals_from_text(runs));
}

Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options) {
  return compare(store, invocation, options, measurements_of(store, invocation));
}

Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   const Measurements& measured) {
  const std::vector<RunFigures>& figures = measured.figures.runs;
  const std::vector<RunSummary> runs = summaries_of(measured.figures);
  std::vector<std::string_view> scores = totals_from_text(runs);
  for (size_t a = 0; a < runs.size(); ++a) add_asked_for(scores, runs[a], measured.scores[a]);
  check_margin(options.margin, scores);
  Comparison comparison{overview_of(store, invocation, options, measured, runs, std::move(scores))};
  for (size_t a = 0; a < runs.size(); ++a) {
    const ArmFinding& arm = comparison.arms[a];
    for (JudgedShare& share : judged_shares(store, figures[a], measured.scores[a]))
      comparison.judged.push_back(std::move(share));
    comparison.details.push_back(details_of(figures[a], measured.scores[a], arm,
                                            comparison.baseline_of(arm), options.confidence));
  }
  if (!options.hardware.empty()) add_rooflines(comparison, options);
  if (!comparison.forced()) comparison.uncomputed = uncomputed_in(comparison.arms);
  add_own_columns(comparison, figures);
  return comparison;
}

DifferingAnswers differing_answers(Store& store, const Measurements& measured, int most) {
  struct Place {
    double gap;
    size_t arm;
    std::string_view sample;
    std::int32_t repeat;
    RowId ours, theirs;
    int repeats = 1;
    auto rank() const { return std::tie(gap, arm, sample, repeat); }
  };
  const Figures& figures = measured.figures;
  const std::vector<RunSummary> runs = summaries_of(figures);
  DifferingAnswers differing;
  std::map<std::pair<size_t, std::int32_t>, Place> of_examples;  // by arm
  for (size_t a = 0; a < runs.size(); ++a) {
    const RunSummary* baseline = find_baseline(runs, runs[a], "");
    if (!baseline || runs[a].run.oracle) continue;
    differing.repeated = differing.repeated || runs[a].run.repeats > 1;
    AnswerPlaces theirs(figures.runs[static_cast<size_t>(baseline - runs.data())]);
    for (const AnswerFigures& ours : figures.runs[a].answers) {
      if (ours.identical.value_or(true) || ours.failed) continue;
      const AnswerFigures* before = theirs.find(ours.example, ours.repeat);
      if (!before || before->failed) continue;
      Place place{ours.gap.value_or(std::numeric_limits<double>::infinity()),
                  a,
                  figures.names->keys[static_cast<size_t>(ours.example)],
                  ours.repeat,
                  ours.id,
                  before->id};
      ++differing.count;
      const auto [found, first] = of_examples.try_emplace({a, ours.example}, place);
      place.repeats = first ? 1 : found->second.repeats + 1;
      if (place.rank() < found->second.rank()) found->second = place;
      found->second.repeats = place.repeats;
    }
  }
  std::vector<Place> places;
  for (const auto& [of, place] : of_examples) places.push_back(place);
  differing.examples = std::ssize(places);
  const auto end = places.begin() + std::min<std::int64_t>(most, differing.examples);
  std::partial_sort(places.begin(), end, places.end(),
                    [](const Place& a, const Place& b) { return a.rank() < b.rank(); });
  Statement read(store.database(), R"(
    SELECT ours.fields, theirs.fields, ours.first_difference
    FROM generation AS ours, generation AS theirs WHERE ours.id = ? AND theirs.id = ?)");
  for (auto place = places.begin(); place != end; ++place) {
    read.bind(place->ours, place->theirs).step();
    const RunRow& run = runs[place->arm].run;
    DifferingAnswer& differs = differing.first.emplace_back(
        DifferingAnswer{run.dataset, run.label, std::string(place->sample), "", "", "",
                        read.maybe_integer(2), place->gap, place->repeats});
    const Json fields = parse_json(read.view(0), store.path().string(), 0),
               before = parse_json(read.view(1), store.path().string(), 0);
    for (size_t f = 0; f < fields.size(); ++f) {
      const std::string other =
          f < before.size() ? before[f].at("text").get<std::string>() : std::string();
      const auto own = fields[f].at("text").get<std::string>();
      if (f < before.size() && other == own) continue;
      differs.field = fields[f].at("name").get<std::string>();
      differs.baseline = other;
      differs.answer = own;
      break;
    }
  }
  return differing;
}

}  // namespace pardec
