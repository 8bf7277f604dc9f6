#include "src/findings/by_category.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "src/findings/score_findings.hpp"

namespace pardec {

namespace {

/// A finished job whose examples are of one category.
struct CategoryJob {
  std::vector<std::int32_t> examples;  // sorted
  const JobFigures* job;
};

/// The jobs of each category of a run.
std::map<std::int32_t, std::vector<CategoryJob>> jobs_by_category(const Figures& figures,
                                                                  const RunFigures& run) {
  std::vector<std::vector<std::int32_t>> examples(run.jobs.size());
  for (const AnswerFigures& answer : run.answers)
    examples[static_cast<size_t>(answer.job)].push_back(answer.example);
  const auto category_of = [&](std::int32_t example) {
    return figures.examples[static_cast<size_t>(example)].category;
  };
  std::map<std::int32_t, std::vector<CategoryJob>> jobs;
  for (size_t j = 0; j < run.jobs.size(); ++j) {
    std::vector<std::int32_t>& own = examples[j];
    if (run.jobs[j].failed || own.empty()) continue;
    const std::int32_t category = category_of(own.front());
    if (std::any_of(own.begin(), own.end(),
                    [&](std::int32_t one) { return category_of(one) != category; }))
      continue;
    std::sort(own.begin(), own.end());
    jobs[category].push_back({std::move(own), &run.jobs[j]});
  }
  return jobs;
}

/// The process that measured each block.
using Processes = std::map<RowId, std::int32_t>;
Processes processes_of(const MeasuredBlocks& measured) {
  Processes processes;
  for (const BlockFigures& block : measured.blocks) processes[block.id] = block.process;
  return processes;
}

bool times_jobs(const RunFigures& run) { return run.summary.run.batch_size == 1; }

/// What the findings on the categories of a run are computed from.
struct RunByCategory {
  const RunFigures& run;
  std::map<std::int32_t, std::vector<CategoryJob>> jobs;
  Processes processes;
  std::map<std::int32_t, ScoreTable> scores;  // empty if scores are not compared

  std::span<const CategoryJob> jobs_of(std::int32_t category) const {
    const auto found = jobs.find(category);
    return found == jobs.end() ? std::span<const CategoryJob>() : found->second;
  }
};

/// The jobs' total times of both arms, one pair for each distinct set of examples.
std::vector<BlockPair> paired_times(const RunByCategory& baseline, const RunByCategory& method,
                                    std::int32_t category) {
  if (!times_jobs(baseline.run) || !times_jobs(method.run)) return {};
  using Key = std::pair<std::vector<std::int32_t>, int>;  // examples and repeat
  std::map<Key, const JobFigures*> found;
  for (const CategoryJob& one : baseline.jobs_of(category))
    if (baseline.processes.contains(one.job->block))
      found[{one.examples, one.job->repeat}] = one.job;
  std::map<std::vector<std::int32_t>, BlockPair> pairs;
  for (const CategoryJob& one : method.jobs_of(category)) {
    const auto process = method.processes.find(one.job->block);
    const auto match = found.find({one.examples, one.job->repeat});
    if (process == method.processes.end() || match == found.end() ||
        baseline.processes.at(match->second->block) != process->second)
      continue;
    BlockPair& pair = pairs[one.examples];
    pair.baseline += static_cast<double>(match->second->total_ns);
    pair.method += static_cast<double>(one.job->total_ns);
  }
  std::vector<BlockPair> times;
  for (const auto& [examples, pair] : pairs) times.push_back(pair);
  return times;
}

void add_counts(CategoryFinding& finding, const RunFigures& run, std::span<const CategoryJob> jobs,
                double confidence) {
  std::vector<BlockPair> passes;
  double chosen = 0, forwards = 0, seconds = 0;
  for (const CategoryJob& one : jobs) {
    chosen += static_cast<double>(one.job->chosen);
    forwards += static_cast<double>(one.job->forwards);
    seconds += static_cast<double>(one.job->total_ns) * 1e-9;
    if (one.job->forwards > 0)
      passes.push_back(
          {static_cast<double>(one.job->chosen), static_cast<double>(one.job->forwards)});
  }
  const double none = std::nan("");
  finding.tokens_per_second = times_jobs(run) && seconds > 0 ? chosen / seconds : none;
  finding.tokens_per_forward =
      passes.empty() ? Interval{none, none, none} : interval_over(passes, confidence);
  if (forwards > 0) finding.tokens_per_forward.estimate = chosen / forwards;
}

}  // namespace

std::vector<CategoryFinding> by_category(const Comparison& comparison,
                                         const Measurements& measured) {
  const Figures& figures = measured.figures;
  const ScoreTable no_scores(figures.names);
  const bool scored = !comparison.forced();
  std::vector<RunByCategory> runs;
  // (first arm of the dataset, name of the category, arm) -> number of the category, and examples
  std::map<std::tuple<size_t, std::string, size_t>, std::pair<std::int32_t, std::set<std::int32_t>>>
      rows;
  for (size_t a = 0; a < comparison.arms.size(); ++a) {
    const RunFigures& run = figures.runs[a];
    runs.push_back({run, jobs_by_category(figures, run), processes_of(run.measured), {}});
    if (scored) runs.back().scores = measured.scores[a].by_category();
    size_t first = 0;
    while (!same_split(comparison.arms[first].run.run.dataset, run.summary.run.dataset)) ++first;
    for (const AnswerFigures& answer : run.answers) {
      const std::int32_t category = figures.examples[static_cast<size_t>(answer.example)].category;
      auto& row = rows[{first, figures.names->categories.name(category), a}];
      row.first = category;
      row.second.insert(answer.example);
    }
  }
  const auto scores_of = [&](size_t arm, std::int32_t category) {
    const auto found = runs[arm].scores.find(category);
    return found == runs[arm].scores.end() ? &no_scores : &found->second;
  };
  std::vector<CategoryFinding> findings;
  for (const auto& [key, row] : rows) {
    const auto& [first, name, a] = key;
    const auto& [category, examples] = row;
    CategoryFinding& finding = findings.emplace_back();
    finding.arm = a;
    finding.category = name;
    finding.examples = std::ssize(examples);
    add_counts(finding, runs[a].run, runs[a].jobs_of(category), comparison.confidence);
    const auto baseline = comparison.arms[a].baseline;
    if (baseline) {
      const auto times = paired_times(runs[*baseline], runs[a], category);
      finding.timed = std::ssize(times);
      if (!times.empty()) finding.speedup = interval_over(times, comparison.confidence);
    }
    if (scored)
      finding.scores = score_findings(*scores_of(a, category),
                                      baseline ? scores_of(*baseline, category) : nullptr,
                                      comparison.scores, comparison.margin, comparison.confidence);
  }
  return findings;
}

}  // namespace pardec
