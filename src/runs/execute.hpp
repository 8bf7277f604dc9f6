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
  /// Requests a stop; running jobs are finished first.
  std::stop_token stop = {};
  /// If given, replaces `stop`. REQUIRES: it is requested whenever `stop` is (a Deadline). A run
  /// that was stopped by `until` but not by `stop` stays in state `running`, as after a kill.
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
  /// stopped by ExecuteOptions::stop, of any process; otherwise the run is complete
  bool stopped = false;
};

/// Runs the remaining work of arms on datasets, and stores the results. If `target_ci` is set, an
/// arm stops early when the half-width of the 95 % interval of its speedup is at most `target_ci`
/// times the speedup. ConfigError, ModelError, StoreError, RunError.
Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const ExecuteOptions& how);

/// A note that the dataset is the project's own sample.
std::string own_sample_note(const Dataset& dataset);

}  // namespace pardec
