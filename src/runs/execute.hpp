#pragma once
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

/// How a run is done.
struct ExecuteOptions {
  /// Asks for a stop, which lets jobs in flight end.
  std::stop_token stop = {};
  /// Asks for a stop in place of `stop`, which it should hear, too (a Deadline); a run that it
  /// alone ends is as one that was killed.
  std::optional<std::stop_token> until = std::nullopt;
  bool create_folders = false;  ///< those of the database
  Notes notes = {};             ///< what a reader of the run should know
};

/// What became of a run.
struct Execution {
  std::unique_ptr<Store> store;  ///< null: stopped before anything began
  std::string invocation;
  RunCounts counts;
  bool stopped = false;  ///< ExecuteOptions::stop asked for it; else it is done
};

/// Runs what is not done yet of arms on datasets, and stores it. An arm with a `target_ci` ends
/// where half of the 95 % interval of its speedup is that share of it. ConfigError, ModelError,
/// StoreError, RunError.
Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const ExecuteOptions& how);

/// Of a dataset that is the project's own sample: that it is.
std::string own_sample_note(const Dataset& dataset);

}  // namespace pardec
