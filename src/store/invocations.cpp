#include "src/store/invocations.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run) {
  auto store = std::make_unique<Store>(db, OpenOptions{.read_only = true});
  // All is read from one moment, whatever a run stores meanwhile.
  store->database().execute("BEGIN");
  if (!run.empty()) run = find_invocation(*store, run);
  if (auto joined = store->join_shards(run)) store = std::move(joined);
  return store;
}

std::vector<RunSummary> runs_of(Store& store, const std::string& invocation) {
  RunFilter filter;
  filter.invocation = invocation;
  auto runs = store.summaries(filter);
  if (runs.empty())
    throw ConfigError(str(store.path().string(), ": has no invocation ", invocation));
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.run.id < b.run.id; });
  return runs;
}

const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline) {
  const std::string label = baseline.empty() ? method.run.baseline.value_or("") : baseline;
  for (const auto& run : runs)
    if (run.run.label == label && run.run.dataset.name == method.run.dataset.name &&
        run.run.dataset.split == method.run.dataset.split && run.run.id != method.run.id)
      return &run;
  return nullptr;
}

std::string latest_invocation(Store& store) {
  const auto runs = store.find_runs({});
  if (runs.empty())
    throw ConfigError(
        str(store.path().string(), ": holds no run yet; 'pardec run --db FILE' makes one"));
  return runs.front().invocation;
}

std::string find_invocation(Store& store, const std::string& prefix) {
  if (prefix.empty()) return latest_invocation(store);
  for (const auto& run : store.find_runs({}))
    if (run.invocation.starts_with(prefix) || run.uuid.starts_with(prefix)) return run.invocation;
  throw ConfigError(str(store.path().string(), ": has no run whose id begins with '", prefix, "'"));
}

}  // namespace pardec
