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
  /// A stop requested through this token takes effect after the running jobs are finished.
  std::stop_token stop = {};
  /// If set, it is used instead of `stop`, e.g. for a Deadline. A run that is stopped only by
  /// `until` keeps the state `running`, as after a kill. REQUIRES: a stop of `stop` also stops
  /// `until`.
  std::optional<std::stop_token> until = std::nullopt;
  bool create_folders = false;  ///< whether to create folders for the database
  Notes notes = {};             ///< messages for the user about the run
  /// Processes that do the run together: each takes blocks as it becomes free, all arms of a block,
  /// and stores them in a database of its own (shared_run.hpp), which rank 0 merges at the end. All
  /// make the same call. Null: this process alone.
  Group* group = nullptr;
};

/// The result of a run.
struct Execution {
  std::unique_ptr<Store> store;  ///< null: stopped before anything began, or a rank above 0
  std::string invocation;
  RunCounts counts;
  /// Whether ExecuteOptions::stop of any process stopped the run; otherwise the run is complete.
  bool stopped = false;
};

/// Runs the remaining work of arms on datasets, and stores the results. If `target_ci` is set, an
/// arm stops early when the half-width of the 95 % interval of its speedup is at most `target_ci`
/// times the speedup. ConfigError, ModelError, StoreError, RunError: see the functions that it
/// calls.
Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const ExecuteOptions& how);

/// A note that the dataset is the project's own sample.
std::string own_sample_note(const Dataset& dataset);

}  // namespace pardec
