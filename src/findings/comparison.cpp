#include "src/findings/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/dataset.hpp"
#include "metrics/attribute_f1.hpp"
#include "src/findings/answer_state.hpp"
#include "src/findings/roofline_share.hpp"
#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"
#include "src/findings/warnings.hpp"
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

/// ConfigError where no arm has the label; empty: each run has its own.
void check_baseline(const std::vector<RunSummary>& runs, const std::string& label) {
  std::vector<std::string> labels;
  for (const auto& run : runs) labels.push_back(run.run.label);
  if (!label.empty() && std::find(labels.begin(), labels.end(), label) == labels.end())
    throw ConfigError(
        str("--baseline: no arm is labelled '", label, "'", known_names(label, labels)));
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

/// The jobs without error as decoders count them.
std::vector<JobCounts> job_counts(const RunRow& run, const RunAnswers& answers) {
  std::map<std::pair<JobKey, int>, std::int64_t> fields;  // of a job
  for (const auto& [key, answered] : answers.by_sample)
    fields[{answered.job->key, answered.job->repeat}] += std::ssize(answered.generation.row.fields);
  std::vector<JobCounts> counts;
  for (const JobRow& job : answers.jobs) {
    if (job.error) continue;
    const JobCounters& c = job.counters;
    JobCounts& one = counts.emplace_back(
        JobCounts{.answers = run.form == "json" ? 1 : fields[{job.key, job.repeat}],
                  .chosen = c.chosen,
                  .forwards = c.forwards,
                  .decode_ns = c.decode_ns,
                  .branches = c.branches,
                  .cached_peak = c.cached_peak,
                  .text_tokens = c.text_tokens,
                  .text_attended = c.text_attended});
    if (const Json& p = c.parallel; p.is_object())
      one.parallel = ParallelCounts{p.at("generated").get<std::int64_t>(),
                                    p.at("branch_tokens").get<std::int64_t>(),
                                    p.at("groups").get<std::int64_t>(),
                                    p.at("group_branches").get<std::int64_t>(),
                                    c.decode_ns,
                                    p.at("parallel_ns").get<std::int64_t>()};
  }
  return counts;
}

/// The columns of the decoders that take part.
void add_own_columns(Comparison& comparison, const std::vector<RunAnswers>& answers) {
  std::vector<std::vector<JobCounts>> counts;  // by arm; empty: no decoder has columns
  for (const DecoderEntry& entry : decoders()) {
    const bool takes_part =
        std::any_of(comparison.arms.begin(), comparison.arms.end(),
                    [&](const ArmFinding& arm) { return arm.run.run.decoder == entry.name; });
    if (!takes_part || entry.own_columns.columns.empty()) continue;
    comparison.own.push_back(&entry);
    if (counts.empty())
      for (size_t a = 0; a < answers.size(); ++a)
        counts.push_back(job_counts(comparison.arms[a].run.run, answers[a]));
    for (size_t a = 0; a < answers.size(); ++a)
      comparison.arms[a].own.push_back(
          entry.own_columns.values(comparison.arms[a].run.run.decoder, counts[a]));
  }
}

Interval tokens_per_forward(const RunSummary& run, const RunAnswers& answers, double confidence) {
  std::vector<BlockPair> jobs;
  for (const auto& job : answers.jobs)
    if (!job.error && job.counters.forwards > 0)
      jobs.push_back(
          {static_cast<double>(job.counters.chosen), static_cast<double>(job.counters.forwards)});
  Interval tokens =
      jobs.empty() ? Interval{kNone, kNone, kNone} : ratio_of_totals(jobs, confidence);
  tokens.estimate = ratio(run.totals.chosen, run.totals.forwards);
  return tokens;
}

std::optional<Departure> departure_of(const RunSummary& run, const RunAnswers& answers) {
  if (run.run.oracle || run.identical >= run.compared) return std::nullopt;
  std::vector<double> gaps;
  Departure departure{run.compared - run.identical, run.compared, {}, {}, 0};
  for (const auto& generation : answers.generations) {
    const auto& identity = generation.row.identity;
    if (!identity || identity->identical) continue;
    if (identity->gap)
      gaps.push_back(*identity->gap);
    else
      ++departure.without_gap;
  }
  if (!gaps.empty()) {
    departure.least_gap = *std::min_element(gaps.begin(), gaps.end());
    departure.median_gap = quantile(std::move(gaps), 0.5);
  }
  return departure;
}

std::vector<AttributeFinding> attributes_of(const RunAnswers& answers) {
  std::map<std::string, std::vector<AttributeOutcome>> outcomes;
  for (const auto& generation : answers.generations)
    for (const auto& score : generation.row.scores)
      if (score.metric == "value_correct")
        outcomes[score.field].push_back(
            {generation.category, score.field, score.details.at("annotated").get<bool>(),
             counts_of(score.details.at("counts_as").get<std::string>())});
  std::vector<AttributeFinding> findings;
  for (const auto& [attribute, of_attribute] : outcomes) {
    long values = 0;
    for (const auto& one : of_attribute) values += one.counts.vn + one.counts.vc + one.counts.vw;
    findings.push_back({attribute, values, extractgpt_f1(of_attribute).micro_f1});
  }
  return findings;
}

/// The scores that the datasets of these runs are judged by first.
std::vector<std::string_view> judged_first_by(const std::vector<RunSummary>& runs) {
  std::vector<std::string_view> first;
  const auto all = judged_by(runs);
  for (const RunSummary& run : runs)
    for (const std::string_view metric : find_dataset(run.run.dataset.name).metrics)
      if (std::find(all.begin(), all.end(), metric) != all.end()) {
        if (std::find(first.begin(), first.end(), metric) == first.end()) first.push_back(metric);
        break;
      }
  return first;
}

ArmFinding finding_of(Store& store, const RunSummary& run, const RunAnswers& answers,
                      const CompareOptions& options) {
  ArmFinding arm;
  arm.run = run;
  arm.jobs = {ratio(run.measured.job_passes, run.measured.passes), run.run.batch_size};
  arm.streams = ratio(run.measured.stream_passes, run.measured.passes);
  arm.stack = {ratio(run.generations, run.jobs),
               stack_asked(find_decoder(run.run.decoder), run.run.options)};
  add_examples_per_second(arm, store, options.confidence);
  arm.likeness = arm.exact_match = kNone;
  arm.state = state_of(run, answers.generations);
  if (options.brief) return arm;
  arm.tokens_per_forward = tokens_per_forward(run, answers, options.confidence);
  arm.attributes = attributes_of(answers);
  for (const auto& job : answers.jobs)
    if (!job.error)
      for (const auto& [tokens, forwards] : job.counters.emitted) arm.emitted[tokens] += forwards;
  return arm;
}

void compare_with(Store& store, const ArmFinding& baseline, const RunAnswers& theirs,
                  ArmFinding& arm, const RunAnswers& ours, double confidence) {
  const RunSummary& run = arm.run;
  const bool ids = same_ids(baseline.run.run.model, run.run.model);
  arm.speedup = speedup_of(store, baseline.run.run, run.run, confidence);
  arm.likeness = !run.run.oracle ? ratio(run.identical, run.compared)
                 : ids           ? unforced_agreement(theirs, ours)
                                 : kNone;
  if (ids && both_ask_one_by_one(baseline.run.run, run.run))
    arm.exact_match = exact_match(theirs, ours);
  arm.departure = departure_of(run, ours);
}

}  // namespace

Interval interval_over(const std::vector<BlockPair>& blocks, double confidence) {
  Interval interval = ratio_of_totals(blocks, confidence);
  if (std::ssize(blocks) < kFewestBlocks) interval.low = interval.high = kNone;
  return interval;
}

void check_compare_options(const CompareOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    throw ConfigError(
        str("--confidence-level is ", options.confidence, ", expected between 0 and 1"));
  if (!(options.margin >= 0))
    throw ConfigError(str("--margin is ", options.margin, ", expected 0 or more"));
}

ScoreFinding::Verdict ScoreFinding::verdict(double margin) const {
  if (!difference) return Verdict::open;
  const double least = lower_is_better ? -difference->high : difference->low,  // of what is gained
      most = lower_is_better ? -difference->low : difference->high;
  if (least > -margin) return Verdict::not_worse;
  return most < -margin ? Verdict::worse : Verdict::open;
}

Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   std::vector<RunAnswers>* kept) {
  const std::string& baseline_label = options.baseline;
  const double confidence = options.confidence;
  const std::vector<RunSummary> runs = runs_of(store, invocation);
  check_baseline(runs, baseline_label);
  Comparison comparison;
  comparison.db = store.path().string();
  comparison.invocation = invocation;
  comparison.confidence = confidence;
  comparison.margin = options.margin;
  comparison.scores = options.brief ? judged_first_by(runs) : judged_by(runs);
  comparison.not_applicable = not_applicable_in(runs);
  comparison.unit = find_dataset(runs.front().run.dataset.name).unit;
  std::vector<RunAnswers> answers;
  for (const RunSummary& run : runs) {
    if (find_dataset(run.run.dataset.name).unit != comparison.unit) comparison.unit = "examples";
    answers.push_back(read_answers(store, run.run.id));
    if (!options.brief) {
      add_asked_for(comparison.scores, run, answers.back().generations);
      for (JudgedShare& share : judged_shares(store, run.run, answers.back().generations))
        comparison.judged.push_back(std::move(share));
    }
    comparison.arms.push_back(finding_of(store, run, answers.back(), options));
    comparison.stacks = comparison.stacks || comparison.arms.back().stack.asked > 1;
  }
  for (size_t a = 0; a < runs.size(); ++a) {
    ArmFinding& arm = comparison.arms[a];
    const RunSummary* found = find_baseline(runs, runs[a], baseline_label);
    if (found) {
      arm.baseline = static_cast<size_t>(found - runs.data());
      ArmFinding& baseline = comparison.arms[*arm.baseline];
      baseline.is_baseline = true;
      compare_with(store, baseline, answers[*arm.baseline], arm, answers[a], confidence);
      comparison.exact_matches =
          comparison.exact_matches || both_ask_one_by_one(baseline.run.run, arm.run.run);
    }
    arm.scores = score_findings(answers[a].generations,
                                found ? &answers[*arm.baseline].generations : nullptr,
                                comparison.scores, confidence);
  }
  if (!options.brief) {
    for (size_t a = 0; a < runs.size(); ++a) {
      ArmFinding& arm = comparison.arms[a];
      arm.speeds = speeds_of(arm, comparison.baseline_of(arm), answers[a]);
    }
    if (!options.hardware.empty()) add_roofline_shares(comparison, options.hardware);
    comparison.uncomputed = uncomputed_in(comparison.arms);
    adjust_p_values(comparison.arms);
    add_own_columns(comparison, answers);
  }
  comparison.warnings = warnings_of(comparison);
  if (kept) *kept = std::move(answers);
  return comparison;
}

std::vector<DifferingAnswer> differing_answers(Store& store, const std::string& invocation) {
  const auto runs = runs_of(store, invocation);
  std::vector<DifferingAnswer> found;
  for (const auto& method : runs) {
    const RunSummary* baseline = find_baseline(runs, method, "");
    if (!baseline || method.run.oracle) continue;
    Statement read(store.database(), R"(
      SELECT sample.key, method.fields, base.fields, method.first_difference,
             method.gap_at_difference
      FROM generation AS method
      JOIN generation AS base ON base.run_id = ?1 AND base.sample_id = method.sample_id
                             AND base.repeat = method.repeat
      JOIN sample ON sample.id = method.sample_id
      WHERE method.run_id = ?2 AND method.identical = 0
        AND method.error IS NULL AND base.error IS NULL
      ORDER BY sample.key, method.repeat)");
    read.bind(baseline->run.id, method.run.id);
    while (read.step()) {
      DifferingAnswer& differs = found.emplace_back(
          DifferingAnswer{method.run.dataset.name, method.run.label, read.text(0), "", "", "",
                          read.maybe_integer(3),
                          read.maybe_real(4).value_or(std::numeric_limits<double>::infinity())});
      const Json fields = parse_json(read.text(1), store.path().string(), 0),
                 before = parse_json(read.text(2), store.path().string(), 0);
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
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const DifferingAnswer& a, const DifferingAnswer& b) { return a.gap < b.gap; });
  return found;
}

}  // namespace pardec
