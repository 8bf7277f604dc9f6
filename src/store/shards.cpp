// Joins the shards of one run.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

struct Share {
  int index = 0, count = 0;  ///< count 0: the run is not a shard
};

Share share_of(const RunRow& run) {
  Share share;
  if (std::sscanf(run.shard.c_str(), "%d/%d", &share.index, &share.count) != 2) return {};
  return share;
}

/// Whether two runs are shards of the same run: they differ only in the shard.
bool same_but_shard(RunRow a, RunRow b) {
  a.shard.clear();
  b.shard.clear();
  return differences(a, b).empty();
}

/// The run of this invocation with the arm and dataset of `wanted`; null: there is none.
const RunRow* run_like(const std::vector<RunRow>& runs, const std::string& invocation,
                       const RunRow& wanted) {
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const RunRow& run) {
    return run.invocation == invocation && run.label == wanted.label &&
           same_split(run.dataset, wanted.dataset);
  });
  return found == runs.end() ? nullptr : &*found;
}

/// The shards of the same experiment as this invocation's, with their invocations, except those in
/// `done`. `runs`: newest first.
std::vector<std::pair<std::string, std::string>> same_shards(const std::vector<RunRow>& runs,
                                                             const std::string& invocation,
                                                             const std::set<std::string>& done) {
  std::map<int, std::pair<std::string, std::string>> shards;
  int count = 0;
  const auto add = [&](const RunRow& run) {
    const Share share = share_of(run);
    if (count == 0) count = share.count;
    if (share.count > 0 && share.count == count)
      shards.try_emplace(share.index, run.shard, run.invocation);
  };
  for (const RunRow& run : runs)
    if (run.invocation == invocation) add(run);
  for (const RunRow& run : runs)
    if (const RunRow* like = run_like(runs, invocation, run);
        like && !done.contains(run.invocation) && same_but_shard(run, *like))
      add(run);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [index, shard] : shards) out.push_back(shard);
  return out;
}

/// Moves all rows of `from` to `into`.
void move_rows(Database& db, const RunRow& into, const RunRow& from) {
  for (const char* table : {"block", "job", "generation"})
    db.run(str("UPDATE ", table, " SET run_id = ? WHERE run_id = ?"), into.id, from.id);
  db.run("UPDATE OR IGNORE artifact SET run_id = ? WHERE run_id = ?", into.id, from.id);
  db.run(
      "UPDATE run SET started_utc = min(started_utc, ?2), ended_utc = max(ended_utc, ?3), "
      "status = iif(status = 'done', ?4, status) WHERE id = ?1",
      into.id, from.started_utc, from.ended_utc, name(from.status));
  db.run("DELETE FROM run WHERE id = ?", from.id);
}

}  // namespace

std::vector<std::string> Store::shards_of(const std::string& invocation) {
  std::vector<std::string> invocations;
  for (const auto& [shard, other] : same_shards(find_runs({}), invocation, {}))
    invocations.push_back(other);
  return invocations.empty() ? std::vector{invocation} : invocations;
}

std::unique_ptr<Store> Store::join_shards(const std::string& keep) {
  if (db_.integer("SELECT count(*) FROM run WHERE shard <> ''") == 0) return nullptr;
  std::unique_ptr<Store> all(new Store());
  all->path_ = path_;
  all->db_.open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY);
  db_.copy_to(all->db_);

  std::vector<RunRow> runs = find_runs({});
  std::stable_partition(runs.begin(), runs.end(),
                        [&](const RunRow& run) { return run.invocation == keep; });
  std::set<std::string> done;
  for (const RunRow& run : runs) {
    if (run.shard.empty() || done.contains(run.invocation)) continue;
    const auto shards = same_shards(runs, run.invocation, done);
    std::vector<std::string> names;
    for (const auto& [shard, invocation] : shards) {
      done.insert(invocation);
      names.push_back(shard);
      if (invocation == run.invocation) continue;
      for (const RunRow& other : runs) {
        if (other.invocation != invocation) continue;
        if (const RunRow* like = run_like(runs, run.invocation, other))
          move_rows(all->db_, *like, other);
        else
          all->db_.run("UPDATE run SET invocation = ? WHERE id = ?", run.invocation, other.id);
      }
    }
    all->db_.run("UPDATE run SET shard = ? WHERE invocation = ?", join(names, ", "),
                 run.invocation);
  }
  all->db_.execute("PRAGMA query_only = ON");
  return all;
}

}  // namespace pardec
