#include "src/findings/by_category.hpp"

#include <algorithm>
#include <cmath>
#include <set>
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
std::map<RowId, std::int32_t> processes_of(const MeasuredBlocks& measured) {
  std::map<RowId, std::int32_t> processes;
  for (const BlockFigures& block : measured.blocks) processes[block.id] = block.process;
  return processes;
}

bool times_jobs(const RunFigures& run) { return run.summary.run.batch_size == 1; }

/// The jobs' total times of both arms, one pair for each distinct set of examples.
std::vector<BlockPair> paired_times(const RunFigures& baseline,
                                    const std::vector<CategoryJob>& theirs,
                                    const RunFigures& method,
                                    const std::vector<CategoryJob>& ours) {
  if (!times_jobs(baseline) || !times_jobs(method)) return {};
  const auto before = processes_of(baseline.measured), after = processes_of(method.measured);
  using Key = std::pair<std::vector<std::int32_t>, int>;  // examples and repeat
  std::map<Key, const JobFigures*> found;
  for (const CategoryJob& one : theirs)
    if (before.contains(one.job->block)) found[{one.examples, one.job->repeat}] = one.job;
  std::map<std::vector<std::int32_t>, BlockPair> pairs;
  for (const CategoryJob& one : ours) {
    const auto process = after.find(one.job->block);
    const auto match = found.find({one.examples, one.job->repeat});
    if (process == after.end() || match == found.end() ||
        before.at(match->second->block) != process->second)
      continue;
    BlockPair& pair = pairs[one.examples];
    pair.baseline += static_cast<double>(match->second->total_ns);
    pair.method += static_cast<double>(one.job->total_ns);
  }
  std::vector<BlockPair> times;
  for (const auto& [examples, pair] : pairs) times.push_back(pair);
  return times;
}

void add_counts(CategoryFinding& finding, const RunFigures& run,
                const std::vector<CategoryJob>& jobs, double confidence) {
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
  std::vector<std::map<std::int32_t, std::vector<CategoryJob>>> jobs;
  // dataset (number of its first arm) -> name of the category -> its number, and the arms' examples
  std::map<size_t,
           std::map<std::string, std::pair<std::int32_t, std::map<size_t, std::set<std::int32_t>>>>>
      datasets;
  for (size_t a = 0; a < comparison.arms.size(); ++a) {
    const RunFigures& run = figures.runs[a];
    jobs.push_back(jobs_by_category(figures, run));
    size_t first = 0;
    while (!same_split(comparison.arms[first].run.run.dataset, run.summary.run.dataset)) ++first;
    for (const AnswerFigures& answer : run.answers) {
      const std::int32_t category = figures.examples[static_cast<size_t>(answer.example)].category;
      auto& of_category = datasets[first][figures.names->categories.name(category)];
      of_category.first = category;
      of_category.second[a].insert(answer.example);
    }
  }
  std::vector<CategoryFinding> findings;
  for (const auto& [first, categories] : datasets)
    for (const auto& [name, of_category] : categories)
      for (const auto& [a, examples] : of_category.second) {
        const std::int32_t category = of_category.first;
        CategoryFinding& finding = findings.emplace_back();
        finding.arm = a;
        finding.category = name;
        finding.examples = std::ssize(examples);
        add_counts(finding, figures.runs[a], jobs[a][category], comparison.confidence);
        const auto baseline = comparison.arms[a].baseline;
        if (baseline) {
          const auto times = paired_times(figures.runs[*baseline], jobs[*baseline][category],
                                          figures.runs[a], jobs[a][category]);
          finding.timed = std::ssize(times);
          if (!times.empty()) finding.speedup = interval_over(times, comparison.confidence);
        }
        if (comparison.forced()) continue;
        const ScoreTable ours = measured.scores[a].of_category(category);
        const auto theirs = baseline
                                ? std::optional(measured.scores[*baseline].of_category(category))
                                : std::nullopt;
        finding.scores = score_findings(ours, theirs ? &*theirs : nullptr, comparison.scores,
                                        comparison.margin, comparison.confidence);
      }
  return findings;
}

}  // namespace pardec
