#include "src/store/invocations.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// The invocations with an id, or a run's id, that begins with `id`.
std::vector<std::string> begun_by(Store& store, const std::string& id) {
  std::vector<std::string> found;
  for (const auto& run : store.find_runs({}))
    if ((run.invocation.starts_with(id) || run.uuid.starts_with(id)) &&
        std::find(found.begin(), found.end(), run.invocation) == found.end())
      found.push_back(run.invocation);
  return found;
}

}  // namespace

std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run) {
  auto store = std::make_unique<Store>(db, OpenOptions{.read_only = true});
  // All reads see the database at one moment, even if a run is writing.
  store->database().execute("BEGIN");
  if (!run.empty()) run = find_invocation(*store, run);
  if (auto joined = store->join_shards(run)) store = std::move(joined);
  return store;
}

Figures figures_of(Store& store, const std::string& invocation) {
  auto runs = store.find_runs({.invocation = invocation});
  if (runs.empty())
    throw ConfigError(str(store.path().string(), ": has no invocation ", invocation));
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return store.figures(std::move(runs));
}

std::vector<RunSummary> runs_of(Store& store, const std::string& invocation) {
  std::vector<RunSummary> runs;
  for (RunFigures& run : figures_of(store, invocation).runs) runs.push_back(std::move(run.summary));
  return runs;
}

const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline) {
  const std::string label = baseline.empty() ? method.run.baseline.value_or("") : baseline;
  for (const auto& run : runs)
    if (run.run.label == label && run.run.invocation == method.run.invocation &&
        same_split(run.run.dataset, method.run.dataset) && run.run.id != method.run.id)
      return &run;
  return nullptr;
}

std::string latest_invocation(Store& store) {
  const auto runs = store.find_runs({});
  if (runs.empty())
    throw ConfigError(
        str(store.path().string(), ": holds no run yet; 'pardec run `db=FILE`' makes one"));
  return runs.front().invocation;
}

std::string find_invocation(Store& store, const std::string& id) {
  if (id.empty()) return latest_invocation(store);
  std::vector<std::string> found = begun_by(store, id);
  for (const auto& [invocation, label] : invocation_labels(store)) {
    if (label.name != id) continue;
    std::erase(found, invocation);
    if (found.empty()) return invocation;
    throw ConfigError(str(
        store.path().string(), ": '", id, "' is the name of invocation ", invocation.substr(0, 8),
        ", and begins the id of ", found.front().substr(0, id.size() + 8),
        "; give more characters of an id, or another name by 'pardec runs name'"));
  }
  if (found.empty() && id == "latest") return latest_invocation(store);
  if (found.empty())
    throw ConfigError(str(store.path().string(), ": has no run with the name '", id,
                          "' or whose id begins so; 'pardec runs' lists them"));
  if (found.size() > 1)
    throw ConfigError(
        str(store.path().string(), ": '", id, "' begins the ids of ", found.size(),
            " invocations, expected one; give more characters: ", found[0].substr(0, id.size() + 8),
            ", ", found[1].substr(0, id.size() + 8), found.size() > 2 ? ", ..." : ""));
  return found.front();
}

std::map<std::string, InvocationLabel> invocation_labels(Store& store) {
  std::map<std::string, InvocationLabel> labels;
  Statement find(store.database(), "SELECT uuid, coalesce(name, ''), note FROM invocation");
  while (find.step()) labels[find.text(0)] = {find.text(1), find.text(2)};
  return labels;
}

void name_invocation(Store& store, const std::string& invocation, const std::string& name) {
  for (const auto& [other, label] : invocation_labels(store))
    if (!name.empty() && label.name == name && other != invocation)
      throw ConfigError(str(store.path().string(), ": invocation ", other.substr(0, 8),
                            " has the name '", name, "' already; choose another"));
  if (!name.empty())
    for (const std::string& other : begun_by(store, name))
      if (other != invocation)
        throw ConfigError(str(store.path().string(), ": the name '", name,
                              "' begins the id of invocation ", other.substr(0, name.size() + 8),
                              ", which it would be taken for; choose another"));
  store.database().run(
      "INSERT INTO invocation (uuid, name) VALUES (?1, nullif(?2, '')) "
      "ON CONFLICT (uuid) DO UPDATE SET name = excluded.name",
      invocation, name);
  store.check_place();
}

void note_invocation(Store& store, const std::string& invocation, const std::string& note) {
  store.database().run(
      "INSERT INTO invocation (uuid, note) VALUES (?, ?) "
      "ON CONFLICT (uuid) DO UPDATE SET note = excluded.note",
      invocation, note);
  store.check_place();
}

void remove_invocation(Store& store, const std::string& invocation) {
  Database& db = store.database();
  Transaction transaction(db);
  db.run("DELETE FROM run WHERE invocation = ?", invocation);  // cascades to the rows of the run
  db.run("DELETE FROM invocation WHERE uuid = ?", invocation);
  // Samples of a running run are kept, since it may have no answers to them yet.
  db.execute(R"(
DELETE FROM sample WHERE id NOT IN (SELECT sample_id FROM generation)
  AND dataset_id NOT IN (SELECT dataset_id FROM run WHERE status = 'running');
DELETE FROM dataset WHERE id NOT IN (SELECT dataset_id FROM run);
DELETE FROM model WHERE id NOT IN (SELECT model_id FROM run)
  AND id NOT IN (SELECT draft_model_id FROM run WHERE draft_model_id IS NOT NULL);
DELETE FROM process WHERE NOT EXISTS (SELECT 1 FROM run WHERE status = 'running')
  AND uuid NOT IN (SELECT process FROM block WHERE process IS NOT NULL)
  AND uuid NOT IN (SELECT process FROM job);
DELETE FROM environment WHERE id NOT IN (SELECT environment_id FROM run)
  AND id NOT IN (SELECT environment_id FROM process);
DELETE FROM experiment
  WHERE id NOT IN (SELECT experiment_id FROM run WHERE experiment_id IS NOT NULL);)");
  transaction.commit();
  store.check_place();
}

}  // namespace pardec
