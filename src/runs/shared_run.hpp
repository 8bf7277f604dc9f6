#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "src/group/group.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/execute.hpp"
#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"

/// One run by several processes. Rank 0 has the database of the run. Each other rank has its own
/// database in the same folder. The database of a rank begins as a copy of the run's stored rows,
/// and is removed when rank 0 has merged it.
namespace pardec {

/// Checks that several processes can share the run. ConfigError: they cannot, because the order is
/// `blocked`, because of target_ci, repair, a trace, a shard or a recorded oracle, or because a
/// service answers an arm.
void check_shared(const RunSpec& spec);

/// The path of a rank's database, next to the database `db` of the run: DB.INVOCATION.rank-N, with
/// the first 8 characters of the invocation's id. Thus invocations do not share these files.
std::filesystem::path rank_database(const std::filesystem::path& db, const std::string& invocation,
                                    int rank);

/// If earlier processes of this invocation were killed, their rank databases may still exist on
/// this machine, next to the database of `store`. Merges these databases into `store`, and removes
/// them. StoreError: a database cannot be read or written.
void collect_left(Store& store, const std::string& invocation);

/// Rank 0's work before the blocks are run. Merges rank databases that killed processes left on any
/// of the machines (collect_left), and sends the stored rows of the run to the other ranks.
/// RunError: another rank fails, or a file cannot be read or written. StoreError: a database cannot
/// be read or written. REQUIRES: `store` has the runs of the invocation.
void begin_shared_run(Group& group, Store& store, const std::string& invocation);

/// How the blocks of the other ranks ended.
struct OthersEnd {
  bool stopped = false;  ///< whether a stop was requested in another rank (ExecuteOptions::stop)
  /// whether another rank may have left blocks that were not run, because of `stop` or `until`
  bool unfinished = false;
};
/// Rank 0's work after the blocks were run. Merges the databases of the other ranks into `store`,
/// and adds their counts to `counts`, except `finished` and `failed` (Recorder::count_finished
/// reads these from the database). Errors: see begin_shared_run.
OthersEnd end_shared_run(Group& group, Store& store, const std::string& invocation,
                         RunCounts& counts);

/// All work of a rank above 0, from the creation of its cells to the removal of its database.
/// ConfigError: its settings, program or files differ from those of rank 0. Other errors: see
/// execute(). REQUIRES: how.group is set.
void join_shared_run(const RunSpec& spec, const std::vector<Workload>& workloads,
                     ArmSessions& sessions, const ExecuteOptions& how);

}  // namespace pardec
