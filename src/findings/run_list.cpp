#include "src/findings/run_list.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "datasets/dataset.hpp"
#include "src/findings/headlines.hpp"
#include "src/findings/score_findings.hpp"
#include "src/scoring/stored_answers.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool matches(const RunRow& run, const RunListFilter& filter) {
  return (filter.dataset.empty() || run.dataset.name == filter.dataset) &&
         (filter.model.empty() || run.model.path.find(filter.model) != std::string::npos ||
          run.model.hash.starts_with(filter.model)) &&
         (filter.decoder.empty() || run.decoder == filter.decoder || run.label == filter.decoder) &&
         run.started_utc >= filter.since;
}

void check_since(const std::string& since) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd.dddZ";
  bool good = since.size() <= kForm.size() && (since.empty() || since.size() >= 4);
  for (size_t i = 0; good && i < since.size(); ++i)
    good = kForm[i] == 'd' ? since[i] >= '0' && since[i] <= '9' : since[i] == kForm[i];
  const auto two_digits = [&](size_t at) {  // 1 if the text ends earlier
    return since.size() >= at + 2 ? std::stoi(since.substr(at, 2)) : 1;
  };
  for (const auto& [at, most] : {std::pair<size_t, int>{5, 12}, {8, 31}})
    good = good && two_digits(at) >= 1 && two_digits(at) <= most;
  if (!good)
    throw ConfigError(str("`since` is '", since,
                          "', expected a date, e.g. 2026-01-31 or 2026-01-31T18:00 (UTC)"));
}

template <typename Value>
void add_new(std::vector<Value>& all, const Value& value, auto&& same) {
  if (std::none_of(all.begin(), all.end(), [&](const Value& one) { return same(one, value); }))
    all.push_back(value);
}

/// Adds the fastest headline; without one, the first run.
void add_headline(const Overview& comparison, ListedRun& listed) {
  const ArmFinding* best = nullptr;
  for (const Headline& headline : headlines_of(comparison))
    if (headline.best &&
        (!best || headline.best->speedup->ratio.estimate > best->speedup->ratio.estimate))
      best = headline.best;
  if (best) listed.speedup = best->speedup->ratio.estimate;
  const ArmFinding& arm = best ? *best : comparison.arms.front();
  const ArmFinding* baseline = comparison.baseline_of(arm);
  listed.arm = arm.run.run.label;
  listed.dataset = arm.run.run.dataset.name;
  listed.untrained = arm.run.run.untrained;
  for (const Warning& warning : comparison.warnings)
    if (warning.dataset == listed.dataset &&
        (warning.arm == listed.arm || (baseline && warning.arm == baseline->run.run.label)))
      add_new(listed.warnings, warning.code, std::equal_to<>());
  if (arm.run.run.oracle) return;
  listed.score_name = headline_score(arm);
  if (!listed.score_name.empty() && std::isfinite(arm.scores.at(listed.score_name).value.estimate))
    listed.score = arm.scores.at(listed.score_name).value.estimate;
}

// Comparison of invocations.

bool same_place(const RunRow& a, const RunRow& b) {
  return a.label == b.label && same_split(a.dataset, b.dataset);
}

const ArmFinding* arm_like(const Overview& comparison, const RunRow& run) {
  for (const ArmFinding& arm : comparison.arms)
    if (same_place(arm.run.run, run)) return &arm;
  return nullptr;
}

AcrossRow row_of(Store& store, size_t invocation, const ArmFinding& arm, const ArmFinding* first,
                 double confidence) {
  AcrossRow row{invocation, &arm, headline_score(arm), {}, {}};
  if (!first || first == &arm) return row;
  const RunAnswers theirs = read_answers(store, first->run.run.id),
                   ours = read_answers(store, arm.run.run.id);
  std::int64_t compared = 0, identical = 0;
  for (const auto& [key, answered] : ours.by_sample) {
    const auto other = theirs.by_sample.find(key);
    if (other == theirs.by_sample.end() || answered.generation.row.error ||
        other->second.generation.row.error)
      continue;
    ++compared;
    identical += compare_fields(other->second, answered, /*same_ids=*/false).identical;
  }
  if (compared > 0) row.identical = static_cast<double>(identical) / static_cast<double>(compared);
  if (row.score_name.empty() || !first->scores.contains(row.score_name) ||
      first->run.run.dataset.sha256 != arm.run.run.dataset.sha256)
    return row;
  const auto scores = read_scores(store, store.figures({arm.run.run, first->run.run}));
  row.difference =
      score_findings(scores[0], &scores[1], {row.score_name}, CompareOptions{}.margin, confidence)
          .at(row.score_name)
          .difference;
  return row;
}

/// Differences from the first invocation's runs of the same arms.
std::vector<std::string> differences_between(const Overview& first, const Overview& other) {
  std::map<std::string, std::vector<std::string>> arms;  // by difference
  size_t matched = 0;
  for (const ArmFinding& arm : other.arms) {
    const ArmFinding* before = arm_like(first, arm.run.run);
    if (!before) continue;
    ++matched;
    const RunRow &old = before->run.run, &now = arm.run.run;
    auto all = differences(old, now);
    for (std::string& difference : machine_differences(old.environment, now.environment))
      all.push_back(std::move(difference));
    if (old.model.path != now.model.path)
      all.push_back(str("model: ", old.model.path, ", now ", now.model.path));
    for (const std::string& difference : all)
      arms[difference].push_back(now.dataset.name + " " + now.label);
  }
  std::vector<std::string> lines;
  for (const auto& [difference, with] : arms)
    lines.push_back(with.size() == matched ? difference : str(join(with, ", "), ": ", difference));
  return lines;
}

/// The logarithm of an invocation's speedup with the variance that its interval implies; none
/// without an interval.
std::optional<EffectSize> effect_of(const ArmFinding& arm, double confidence) {
  if (!arm.speedup || !std::isfinite(arm.speedup->ratio.low)) return std::nullopt;
  const Interval& ratio = arm.speedup->ratio;
  const double t =
      student_t_quantile(0.5 + confidence / 2, static_cast<double>(arm.speedup->blocks - 1));
  const double error = std::log(ratio.high / ratio.low) / 2 / t;
  if (!(error > 0)) return std::nullopt;
  return EffectSize{std::log(ratio.estimate), error * error};
}

std::optional<Sittings> sittings_of(const AcrossRuns& across, const RunRow& place,
                                    double confidence) {
  std::vector<EffectSize> effects;
  const ArmFinding* first = nullptr;
  for (const AcrossRow& row : across.rows) {
    if (!same_place(row.arm->run.run, place) || !across.differences[row.invocation].empty())
      continue;
    if (const auto effect = effect_of(*row.arm, confidence)) {
      if (!first) first = row.arm;
      effects.push_back(*effect);
    }
  }
  if (effects.size() < 2) return std::nullopt;
  const RandomEffects found = random_effects(effects, confidence);
  return Sittings{
      first,
      std::ssize(effects),
      {std::exp(found.mean.estimate), std::exp(found.mean.low), std::exp(found.mean.high)},
      std::exp(found.between)};
}

}  // namespace

ListedRun listed_run(Store& store, const std::string& invocation) {
  const Overview comparison = overview(store, invocation);
  const RunRow& first = comparison.arms.front().run.run;
  ListedRun listed;
  listed.invocation = invocation;
  listed.started_utc = first.started_utc;
  listed.commit = first.commit;
  listed.dtype = first.dtype;
  listed.shard = first.shard;
  listed.oracle = first.oracle;
  std::map<std::string, std::int64_t> examples;  // by dataset and split
  for (const ArmFinding& arm : comparison.arms) {
    const RunSummary& summary = arm.run;
    const RunRow& run = summary.run;
    listed.started_utc = std::min(listed.started_utc, run.started_utc);
    if (run.status == RunStatus::running ||
        (run.status == RunStatus::failed && listed.status == RunStatus::done))
      listed.status = run.status;
    add_new(listed.models, run.model,
            [](const ModelRow& a, const ModelRow& b) { return a.hash == b.hash; });
    add_new(listed.arms, run.label, std::equal_to<>());
    add_new(listed.datasets, run.dataset, [](const DatasetRow& a, const DatasetRow& b) {
      return same_split(a, b) && a.sample == b.sample;
    });
    std::int64_t& most = examples[run.dataset.name + "/" + run.dataset.split];
    most = std::max(most, summary.examples);
    listed.failed += summary.failed_generations;
  }
  for (const auto& [dataset, count] : examples) listed.examples += count;
  if (const auto labels = invocation_labels(store); labels.contains(invocation)) {
    listed.name = labels.at(invocation).name;
    listed.note = labels.at(invocation).note;
  }
  add_headline(comparison, listed);
  return listed;
}

RunList list_runs(Store& store, const RunListFilter& filter, int limit) {
  check_since(filter.since);
  const std::vector<RunRow> stored = store.find_runs({});
  if (!filter.dataset.empty() && std::none_of(stored.begin(), stored.end(), [&](const RunRow& run) {
        return run.dataset.name == filter.dataset;
      }))
    find_dataset(filter.dataset);
  std::map<std::string, std::string> begun;  // by invocation
  for (const RunRow& run : stored)
    if (matches(run, filter)) {
      std::string& date = begun.try_emplace(run.invocation, run.started_utc).first->second;
      date = std::min(date, run.started_utc);
    }
  // Not by the order of rows, which a merge does not preserve.
  std::vector<std::pair<std::string, std::string>> newest;
  for (const auto& [invocation, date] : begun) newest.emplace_back(date, invocation);
  std::sort(newest.rbegin(), newest.rend());
  RunList list{{}, std::ssize(newest)};
  for (const auto& [date, invocation] : newest) {
    if (limit > 0 && std::ssize(list.runs) == limit) break;
    list.runs.push_back(listed_run(store, invocation));
  }
  return list;
}

AcrossRuns compare_across(Store& store, const std::vector<std::string>& invocations,
                          double confidence) {
  AcrossRuns across;
  const auto labels = invocation_labels(store);
  std::vector<const RunRow*> places;  // by first mention
  across.invocations.reserve(invocations.size());
  for (const std::string& invocation : invocations) {
    const auto label = labels.find(invocation);
    across.names.push_back(label != labels.end() && !label->second.name.empty()
                               ? label->second.name
                               : invocation.substr(0, 8));
    const Comparison& comparison =
        across.invocations.emplace_back(compare(store, invocation, {.confidence = confidence}));
    for (const ArmFinding& arm : comparison.arms)
      add_new(places, &arm.run.run,
              [](const RunRow* a, const RunRow* b) { return same_place(*a, *b); });
    across.differences.push_back(differences_between(across.invocations.front(), comparison));
  }
  for (const RunRow* place : places) {
    const ArmFinding* first = arm_like(across.invocations.front(), *place);
    for (size_t i = 0; i < invocations.size(); ++i)
      if (const ArmFinding* arm = arm_like(across.invocations[i], *place))
        across.rows.push_back(row_of(store, i, *arm, first, confidence));
    if (auto sittings = sittings_of(across, *place, confidence))
      across.sittings.push_back(*sittings);
  }
  return across;
}

}  // namespace pardec
