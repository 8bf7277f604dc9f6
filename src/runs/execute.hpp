#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"
#include "src/store/store.hpp"
#include "src/support/notes.hpp"

namespace pardec {

class Group;  // src/group/group.hpp

/// Options of execute().
struct ExecuteOptions {
  /// A stop requested through this token takes effect after the running jobs are finished. The
  /// stored run keeps RunStatus::running, as after a kill, and can be resumed.
  std::stop_token stop = {};
  /// If set, this token ends the run instead of `stop`, e.g. the token of a Deadline. If a stop is
  /// requested through `until` and not through `stop`, Execution::stopped is false. REQUIRES: a
  /// stop requested through `stop` is also requested through `until`.
  std::optional<std::stop_token> until = std::nullopt;
  bool create_folders = false;  ///< whether to create folders for the database
  Notes notes = {};             ///< messages for the user about the run
  /// The processes that share the run; all of them call execute() with the same arguments. A
  /// process that becomes free takes the next block and runs it with all arms. Each process stores
  /// its results in its own database (shared_run.hpp), and rank 0 merges these databases at the
  /// end. Null: this process alone does the run.
  Group* group = nullptr;
};

/// The result of a run.
struct Execution {
  /// the open database of the run; null in ranks above 0. If the run was stopped before anything
  /// began, it is null unless the database existed.
  std::unique_ptr<Store> store;
  /// the id of the invocation; empty in ranks above 0, or if nothing began
  std::string invocation;
  RunCounts counts;  ///< all zero in ranks above 0
  /// Whether a stop was requested through ExecuteOptions::stop of this process. In rank 0, a stop
  /// in any other process of the group counts too. A stop only through ExecuteOptions::until does
  /// not count.
  bool stopped = false;
};

/// Runs the work of all arms on all datasets that is not stored yet, and stores the results.
/// `workloads`: from load_workloads(spec). `sessions`: made for `spec`. Errors of single jobs are
/// stored, not thrown. If RunSpec::target_ci is set, an arm stops early when the half-width of the
/// 95 % interval of its speedup is at most `target_ci` times the speedup. ConfigError: a setting is
/// invalid, there is no run to resume or it has other settings (prepare), a recorded run cannot be
/// used (read_recording), the trace cannot be opened (check_trace), or several processes cannot
/// share the run (check_shared). StoreError: the database cannot be opened, read or written, or it
/// was removed or replaced during the run (Store::check_place). DataError: a file of a dataset
/// cannot be read, or a value in the database is invalid. RunError: a service or another process of
/// the group fails, or the trace cannot be written. Errors of loading networks and of services: see
/// ArmSessions::of and ArmSessions::service. REQUIRES: some arm can run on some dataset
/// (check_any_runs).
Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const ExecuteOptions& how);

/// A note that the dataset is the project's own sample.
std::string own_sample_note(const Dataset& dataset);

}  // namespace pardec
