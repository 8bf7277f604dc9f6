#include "src/findings/score_findings.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "datasets/dataset.hpp"

namespace pardec {

namespace {

/// Sample and field of a part as one number.
std::int64_t asked_of(const ScoreTable& table, const ScoredPart& part) {
  return (static_cast<std::int64_t>(table.answers()[static_cast<size_t>(part.answer)].sample)
          << 32) +
         part.field;
}

/// p of the answers that one of the two alone has right; repeats are no new examples.
double mcnemar(const ScoreTable& baseline, const std::vector<ScoredPart>& theirs,
               const ScoreTable& method, const std::vector<ScoredPart>& ours) {
  const auto first = [](const ScoreTable& table, const ScoredPart& part) {
    return table.answers()[static_cast<size_t>(part.answer)].repeat == 0;
  };
  std::vector<std::pair<std::int64_t, bool>> right;
  for (const ScoredPart& part : theirs)
    if (first(baseline, part)) right.emplace_back(asked_of(baseline, part), part.numerator == 1);
  std::sort(right.begin(), right.end());
  std::int64_t only_baseline = 0, only_method = 0;
  for (const ScoredPart& part : ours) {
    if (!first(method, part)) continue;
    const std::int64_t asked = asked_of(method, part);
    const auto other = std::lower_bound(right.begin(), right.end(), std::pair(asked, false));
    if (other == right.end() || other->first != asked) continue;
    only_baseline += other->second && part.numerator != 1;
    only_method += !other->second && part.numerator == 1;
  }
  return mcnemar_exact(only_baseline, only_method);
}

void add_intervals(ScoreFinding& finding, const ScoreTable& method,
                   const std::vector<ScoredPart>& ours, const ScoreTable* baseline,
                   const std::vector<ScoredPart>& theirs, double confidence) {
  // Those that take part, in the order in which they come.
  std::vector<std::int32_t> clusters(static_cast<size_t>(method.names().clusters.size()), -1);
  std::unordered_map<std::int64_t, std::int32_t> groups;
  std::int32_t count = 0;
  const auto numbered = [&](const ScoreTable& table, const std::vector<ScoredPart>& parts) {
    std::vector<ScorePart> out;
    out.reserve(parts.size());
    for (const ScoredPart& part : parts) {
      std::int32_t& cluster =
          clusters[static_cast<size_t>(table.answers()[static_cast<size_t>(part.answer)].cluster)];
      if (cluster < 0) cluster = count++;
      out.push_back(
          {cluster,
           groups.emplace(part.group, static_cast<std::int32_t>(groups.size())).first->second,
           part.numerator, part.denominator});
    }
    return out;
  };
  const auto after = numbered(method, ours);
  const auto before = baseline ? numbered(*baseline, theirs) : std::vector<ScorePart>();
  ScoreIntervals intervals = score_intervals(before, after, count, confidence);
  if (count < kFewestBlocks)
    for (Interval* interval : {&intervals.method, &intervals.difference})
      interval->low = interval->high = std::nan("");
  finding.value.low = intervals.method.low;
  finding.value.high = intervals.method.high;
  if (!before.empty()) finding.difference = intervals.difference;
}

}  // namespace

std::vector<std::string_view> judged_by(const std::vector<RunSummary>& runs) {
  std::vector<std::string_view> totals;
  const auto add = [&](std::string_view total) {
    if (std::find(totals.begin(), totals.end(), total) == totals.end()) totals.push_back(total);
  };
  for (const auto& run : runs) {
    const DatasetEntry& dataset = find_dataset(run.run.dataset.name);
    for (const TaskMetric* metric : metrics_of(dataset)) {
      if (metric->name == "value_f1") {  // beside what the dataset names, the strict count
        for (const auto total : {"extractgpt_f1_micro", "extractgpt_f1_macro", "strict_f1_micro"})
          add(total);
        continue;
      }
      for (const auto total : metric->totals)
        if (std::find(dataset.metrics.begin(), dataset.metrics.end(), total) !=
            dataset.metrics.end())
          add(total);
    }
  }
  return totals;
}

void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores) {
  const auto own = metrics_of(find_dataset(run.run.dataset.name));
  for (const TaskMetric& metric : task_metrics()) {
    if (std::find(own.begin(), own.end(), &metric) != own.end()) continue;
    for (const MetricTotal& total : metric.total(scores))
      if (std::find(totals.begin(), totals.end(), total.name) == totals.end())
        totals.push_back(total.name);
  }
}

std::vector<Uncomputed> uncomputed_in(const std::vector<ArmFinding>& arms) {
  std::vector<Uncomputed> all;
  std::set<std::pair<std::string, std::string_view>> seen;
  const auto lacks = [](const ArmFinding& arm, const std::vector<std::string_view>& totals) {
    return std::none_of(totals.begin(), totals.end(),
                        [&](std::string_view total) { return arm.scores.contains(total); });
  };
  for (const ArmFinding& arm : arms) {
    const RunRow& run = arm.run.run;
    if (run.oracle || arm.state.answers == arm.state.failed) continue;
    std::vector<std::string_view> judged;
    for (const std::string_view total : find_dataset(run.dataset.name).metrics)
      if (needs_judge(total)) judged.push_back(total);
    if (!judged.empty() && lacks(arm, judged) && seen.emplace(run.dataset.name, "").second)
      all.push_back({run.dataset.name, "", judged});
    for (const TaskMetric& metric : task_metrics()) {
      const auto& own = find_dataset(run.dataset.name).metrics;
      const bool of_dataset =
          std::any_of(metric.totals.begin(), metric.totals.end(), [&](std::string_view total) {
            return std::find(own.begin(), own.end(), total) != own.end();
          });
      if (of_dataset && metric.runs_code && lacks(arm, metric.totals) &&
          seen.emplace(run.dataset.name, metric.name).second)
        all.push_back({run.dataset.name, metric.name, metric.totals});
    }
  }
  return all;
}

std::string_view headline_score(const ArmFinding& arm) {
  for (const std::string_view metric : find_dataset(arm.run.run.dataset.name).metrics)
    if (arm.scores.contains(metric)) return metric;
  return {};
}

std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double confidence) {
  std::map<std::string_view, ScoreFinding> findings;
  for (const TaskMetric& metric : task_metrics())
    for (const MetricTotal& total : metric.total(method)) {
      ScoreFinding& finding = findings[total.name];
      finding = {{total.value, std::nan(""), std::nan("")},
                 total.count,
                 std::nullopt,
                 std::nullopt,
                 metric.lower_is_better};
      if (std::find(with_interval.begin(), with_interval.end(), total.name) == with_interval.end())
        continue;
      const auto ours = metric.parts(total.name, method);
      const auto theirs =
          baseline ? metric.parts(total.name, *baseline) : std::vector<ScoredPart>{};
      add_intervals(finding, method, ours, baseline, theirs, confidence);
      if (!theirs.empty() && std::find(metric.right_or_wrong.begin(), metric.right_or_wrong.end(),
                                       total.name) != metric.right_or_wrong.end())
        finding.p = mcnemar(*baseline, theirs, method, ours);
    }
  return findings;
}

void adjust_p_values(std::vector<ArmFinding>& arms) {
  std::vector<double*> places;
  std::vector<double> raw;
  for (ArmFinding& arm : arms)
    for (auto& [name, finding] : arm.scores)
      if (finding.p) {
        places.push_back(&*finding.p);
        raw.push_back(*finding.p);
      }
  const std::vector<double> adjusted = holm(raw);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = adjusted[i];
}

}  // namespace pardec
