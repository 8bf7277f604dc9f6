#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "src/group/group.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/execute.hpp"
#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"

/// One run by several processes: rank 0 has the run's database, each other rank one of its own
/// beside it, which begins with the run's rows so far and exists until rank 0 has merged it.
namespace pardec {

/// ConfigError: the run has settings that several processes cannot share.
void check_shared(const RunSpec& spec);

/// The database of a rank of an invocation, beside the database of the run: DB.INVOCATION.rank-N,
/// with the first 8 characters of the invocation. Other invocations have other files.
std::filesystem::path rank_database(const std::filesystem::path& db, const std::string& invocation,
                                    int rank);

/// Merges the databases of ranks that killed processes of this invocation left on this machine, and
/// removes them.
void collect_left(Store& store, const std::string& invocation);

/// Rank 0's part before the blocks, of a run that `store` has: collects what was left on all
/// machines, and gives the other ranks the run's rows so far.
void lead(Group& group, Store& store, const std::string& invocation);

/// Rank 0's part after the blocks: merges what the others did, and adds their counts. Returns
/// whether a signal stopped one of them.
bool collect(Group& group, Store& store, const std::string& invocation, RunCounts& counts);

/// The whole part of a rank above 0.
void follow(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
            const ExecuteOptions& how);

}  // namespace pardec
