#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/cli/signal_stop.hpp"
#include "src/runs/arm_sessions.hpp"
#include "src/runs/recorder.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// What became of a run.
struct Execution {
  std::unique_ptr<Store> store;  ///< null: stopped before anything began
  std::string invocation;
  RunCounts counts;
  int signal = 0;  ///< that stopped it; 0: it is done

  /// Exit code of the program, where it was stopped; says on stderr how to go on.
  int stopped(const RunSpec& spec) const;
};

/// Runs what is not done yet of arms on datasets, and stores it; says on stderr what a reader
/// should know beforehand. An arm with a `target_ci` ends where half of the 95 % interval of its
/// speedup is that share of it. `create_folders`: those of the database. `until` asks for a stop in
/// place of the signals, which it should hear, too; such a run is as one that was killed.
/// ConfigError, ModelError, StoreError, RunError.
Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const SignalStop& stop, bool create_folders,
                  const std::optional<std::stop_token>& until = {});

/// On stderr, where a dataset is the project's own sample: that it is.
void print_own_sample(const Dataset& dataset);

/// 3 where a larger share of the answers failed than may; says so. Else 0.
int exit_code(const RunCounts& counts, double fail_on_error);

}  // namespace pardec
