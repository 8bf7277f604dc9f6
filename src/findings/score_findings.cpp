#include "src/findings/score_findings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "datasets/dataset.hpp"
#include "metrics/score_intervals.hpp"

namespace pardec {

namespace {

/// The part that one answer contributes to a score, as the mean over its repeats.
struct AnswerPart {
  std::int64_t answer;  ///< sample and field
  std::int32_t cluster;
  std::int64_t group;
  double numerator, denominator;
};

/// Groups the parts by answer.
std::vector<AnswerPart> by_answer(const ScoreTable& table, const std::vector<ScoredPart>& parts) {
  std::vector<AnswerPart> all;
  all.reserve(parts.size());
  for (const ScoredPart& part : parts) {
    const ScoredAnswer& answer = table.answers()[static_cast<size_t>(part.answer)];
    all.push_back({(static_cast<std::int64_t>(answer.sample) << 32) + part.field, answer.cluster,
                   part.group, part.numerator, part.denominator});
  }
  const auto less = [](const AnswerPart& a, const AnswerPart& b) { return a.answer < b.answer; };
  if (!std::is_sorted(all.begin(), all.end(), less)) std::stable_sort(all.begin(), all.end(), less);
  auto means = all.begin();  // the means replace the parts
  for (auto first = all.begin(); first != all.end();) {
    AnswerPart mean = *first;
    double repeats = 1;
    for (++first; first != all.end() && first->answer == mean.answer; ++first, ++repeats) {
      mean.numerator += first->numerator;
      mean.denominator += first->denominator;
    }
    mean.numerator /= repeats;
    mean.denominator /= repeats;
    *means++ = mean;
  }
  all.erase(means, all.end());
  return all;
}

/// Removes answers that only one of the two has, and returns their number.
std::int64_t keep_shared(std::vector<AnswerPart>& a, std::vector<AnswerPart>& b) {
  const auto before = std::ssize(a) + std::ssize(b);
  const auto keep = [](std::vector<AnswerPart>& parts, const std::vector<AnswerPart>& others) {
    auto other = others.begin();
    auto kept = parts.begin();
    for (const AnswerPart& part : parts) {
      while (other != others.end() && other->answer < part.answer) ++other;
      if (other != others.end() && other->answer == part.answer) *kept++ = part;
    }
    parts.erase(kept, parts.end());
  };
  keep(a, b);
  keep(b, a);
  return before - std::ssize(a) - std::ssize(b);
}

/// Numbers clusters and groups from 0 in the order of appearance, for both arms together.
class Numbering {
 public:
  std::vector<ScorePart> of(const std::vector<AnswerPart>& parts) {
    std::vector<ScorePart> out;
    out.reserve(parts.size());
    for (const AnswerPart& part : parts)
      out.push_back({cluster(part.cluster), group(part.group), part.numerator, part.denominator});
    return out;
  }
  std::int32_t clusters() const { return clusters_; }

 private:
  /// The clusters of all examples are numbers from 0, and may be as many as the answers.
  std::int32_t cluster(std::int32_t name) {
    const auto at = static_cast<size_t>(name);
    if (at >= numbers_.size()) numbers_.resize(std::max(at + 1, 2 * numbers_.size()), -1);
    if (numbers_[at] < 0) numbers_[at] = clusters_++;
    return numbers_[at];
  }
  std::int32_t group(std::int64_t name) {
    return groups_.emplace(name, static_cast<std::int32_t>(groups_.size())).first->second;
  }
  std::vector<std::int32_t> numbers_;  // by cluster; -1: it did not appear
  std::int32_t clusters_ = 0;
  std::unordered_map<std::int64_t, std::int32_t> groups_;
};

/// p-value by cluster for answers that only one arm has right; repeats count as the same example.
double right_or_wrong_p(const std::vector<AnswerPart>& before,
                        const std::vector<AnswerPart>& after) {
  std::map<std::int32_t, std::int64_t> more_right;  // by cluster
  for (size_t i = 0; i < after.size(); ++i)
    more_right[after[i].cluster] += (after[i].numerator == 1) - (before[i].numerator == 1);
  std::vector<std::int64_t> differences;
  for (const auto& [cluster, difference] : more_right) differences.push_back(difference);
  return clustered_mcnemar(differences);
}

std::vector<ScoredPart> first_repeats(const ScoreTable& table, std::vector<ScoredPart> parts) {
  std::erase_if(parts, [&](const ScoredPart& part) {
    return table.answers()[static_cast<size_t>(part.answer)].repeat != 0;
  });
  return parts;
}

void add_level(ScoreFinding& finding, const std::vector<AnswerPart>& method, ScoreRange range,
               double confidence) {
  Numbering numbering;
  const auto parts = numbering.of(method);
  const Interval level =
      with_ends_of(score_intervals({}, parts, numbering.clusters(), range, confidence).method,
                   numbering.clusters());
  finding.value.low = level.low;
  finding.value.high = level.high;
}

void add_difference(ScoreFinding& finding, std::vector<AnswerPart> before,
                    std::vector<AnswerPart> after, ScoreRange range, double margin,
                    double confidence) {
  finding.left_out = keep_shared(before, after);
  finding.pairs = std::ssize(after);
  Numbering numbering;
  const auto theirs = numbering.of(std::exchange(before, {})),
             ours = numbering.of(std::exchange(after, {}));
  const ScoreIntervals found =
      score_intervals(theirs, ours, numbering.clusters(), range, confidence);
  finding.difference = with_ends_of(found.difference, numbering.clusters());
  if (!found.differences) return;
  const ClusterMean gained =
      finding.lower_is_better ? found.differences->mirrored() : *found.differences;
  finding.would_do = gained.clusters_above(-margin, confidence);
}

}  // namespace

std::vector<std::string_view> totals_from_text(const std::vector<RunSummary>& runs) {
  std::vector<std::string_view> totals;
  const auto add = [&](std::string_view total) {
    if (std::find(totals.begin(), totals.end(), total) == totals.end()) totals.push_back(total);
  };
  for (const auto& run : runs) {
    const DatasetEntry& dataset = stored_dataset(run.run.dataset.name);
    for (const TaskMetric* metric : metrics_of(dataset)) {
      if (metric->name == "value_f1") {  // besides the dataset's own metric, also the strict count
        for (const auto total : {"f1_micro", "f1_macro", "f1_strict"}) add(total);
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
  const auto own = metrics_of(stored_dataset(run.run.dataset.name));
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
    if (arm.state.answers == arm.state.failed) continue;
    std::vector<std::string_view> judged;
    for (const std::string_view total : stored_dataset(run.dataset.name).metrics)
      if (needs_judge(total)) judged.push_back(total);
    if (!judged.empty() && lacks(arm, judged) && seen.emplace(run.dataset.name, "").second)
      all.push_back({run.dataset.name, "", judged});
    for (const TaskMetric& metric : task_metrics()) {
      const auto& own = stored_dataset(run.dataset.name).metrics;
      const bool of_dataset =
          std::any_of(metric.totals.begin(), metric.totals.end(), [&](std::string_view total) {
            return std::find(own.begin(), own.end(), total) != own.end();
          });
      if (of_dataset && metric.by<ByRunning>() && lacks(arm, metric.totals) &&
          seen.emplace(run.dataset.name, metric.name).second)
        all.push_back({run.dataset.name, metric.name, metric.totals});
    }
  }
  return all;
}

std::string_view headline_score(const ArmFinding& arm) {
  for (const std::string_view metric : stored_dataset(arm.run.run.dataset.name).metrics)
    if (arm.scores.contains(metric)) return metric;
  return {};
}

std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double margin, double confidence) {
  std::map<std::string_view, ScoreFinding> findings;
  for (const TaskMetric& metric : task_metrics())
    for (const MetricTotal& total : metric.total(method)) {
      ScoreFinding& finding = findings[total.name];
      finding.value = {total.value, std::nan(""), std::nan("")};
      finding.count = total.count;
      finding.lower_is_better = metric.lower_is_better;
      if (std::find(with_interval.begin(), with_interval.end(), total.name) == with_interval.end())
        continue;
      const ScoreRange range = range_of(total.name);
      // There may be millions of parts: none is kept longer than it is needed.
      const auto parts = [&](const ScoreTable& table) { return metric.parts(total.name, table); };
      auto ours = by_answer(method, parts(method));
      add_level(finding, ours, range, confidence);
      if (!baseline) continue;
      auto theirs = by_answer(*baseline, parts(*baseline));
      if (theirs.empty()) continue;
      add_difference(finding, std::move(theirs), std::move(ours), range, margin, confidence);
      if (std::find(metric.right_or_wrong.begin(), metric.right_or_wrong.end(), total.name) ==
          metric.right_or_wrong.end())
        continue;
      auto before = by_answer(*baseline, first_repeats(*baseline, parts(*baseline))),
           after = by_answer(method, first_repeats(method, parts(method)));
      keep_shared(before, after);
      finding.p = right_or_wrong_p(before, after);
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
