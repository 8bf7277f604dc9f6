#include "src/scoring/rescore.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool is_stored(const ScoreRow& now, const std::vector<ScoreRow>& stored) {
  return std::any_of(stored.begin(), stored.end(), [&](const ScoreRow& old) {
    return old.metric == now.metric && old.field == now.field && old.version == now.version &&
           old.value == now.value && old.details == now.details;
  });
}

/// The function that computes the metric's rows.
const ScoreExample& scorer_of(const TaskMetric& metric, const ScoreExample& by_network) {
  if (const auto* text = metric.by<ByText>()) return text->score;
  if (const auto* running = metric.by<ByRunning>()) return running->score;
  if (!metric.by<ByNetwork>() || !by_network)
    throw std::logic_error(str("no answer has rows of ", metric.name, " by itself"));
  return by_network;
}

}  // namespace

Rescored rescore(Store& store, const RunRow& run, const std::vector<const TaskMetric*>& metrics,
                 const ScoreExample& by_network) {
  std::map<std::string, SampleRow> samples;
  for (auto& sample : store.samples(store.dataset_of(run.id))) {
    const std::string key = sample.key;
    samples.emplace(key, std::move(sample));
  }
  Rescored out{store.generations(run.id), {}, {}};
  std::map<const TaskMetric*, std::int64_t> rows;
  std::int64_t answered = 0;
  for (auto& generation : out.generations) {
    const std::vector<ScoreRow> stored = std::move(generation.row.scores);
    generation.row.scores.clear();
    const SampleRow& sample = samples.at(generation.row.sample);
    answered += !generation.row.error;
    const ScoredExample example = generation.row.error
                                      ? failed_example(sample)
                                      : scored_example(sample, generation.row.fields);
    for (const TaskMetric* metric : metrics) try {
        for (auto& row : scorer_of(*metric, by_network)(example)) {
          ++rows[metric];
          out.changed[metric] += !is_stored(row, stored);
          generation.row.scores.push_back(std::move(row));
        }
      } catch (const ConfigError& error) {
        throw ConfigError(str(run.dataset.name, " sample ", generation.row.sample, ": ",
                              metric->name, ": ", error.what()));
      }
  }
  for (const TaskMetric* metric : metrics)
    if (answered > 0 && rows[metric] == 0) out.unfit.push_back(metric);
  return out;
}

}  // namespace pardec
