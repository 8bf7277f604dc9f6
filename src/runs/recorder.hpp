#pragma once
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/runs/block_states.hpp"
#include "src/runs/prepare.hpp"
#include "src/store/store.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// The results of --repair on one dataset.
struct RepairCounts {
  std::string dataset;
  std::int64_t disturbed = 0;  ///< blocks without an undisturbed measurement before the repair
  std::int64_t again = 0;      ///< blocks that were measured again
  std::int64_t quiet = 0;      ///< repeated measurements that were not disturbed
  std::int64_t repaired_before = 0;  ///< further blocks whose disturbance was repaired earlier
};

/// The results of an invocation, counted in answers.
struct RunCounts {
  std::int64_t finished = 0;  ///< including those of earlier processes
  std::int64_t failed = 0;    ///< finished ones that failed
  /// later turns of conversations whose ids differ from the tokenizer's ids of their text
  std::int64_t turns_off = 0;
  /// `torn`: blocks that an earlier process began but did not finish, so that all arms ran them
  /// again as a whole. `torn_in_vain`: the torn blocks that still have no time.
  std::int64_t torn = 0, torn_in_vain = 0;
  /// jobs that were run again and gave other ids than the stored ones
  std::int64_t other_answers = 0;
  std::vector<RepairCounts> repairs;  ///< empty: no --repair
  /// `blocks_ns`: time from the first block's start to the last one's end. `busy_ns`: time in which
  /// a process had a block, summed over the processes.
  std::int64_t blocks_ns = 0, busy_ns = 0;

  double failed_share() const {
    return finished ? static_cast<double>(failed) / static_cast<double>(finished) : 0;
  }
};

/// ConfigError: the file of --trace cannot be written, or datasets were read from it.
void check_trace(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Stores the results of a run as they arrive: jobs when they finish, blocks when they are
/// measured, and one trace line per sequence.
class Recorder {
 public:
  /// Begins the runs of all cells at once, so that a killed invocation is resumed as a whole, and
  /// opens the trace. The arguments must outlive this object. If it throws, nothing is stored.
  Recorder(const RunSpec& spec, const std::vector<Workload>& workloads, Store& store,
           std::vector<RunCell>& cells);

  /// Counts the stored results of all processes.
  void count_finished();
  /// The current states, in the order of the cells.
  std::vector<CellState> states() {
    return cell_states(store_, cells_, spec_.runs, spec_.retry_errors);
  }

  RowId begin_block(const BlockRow& row) { return store_.begin_block(row); }
  /// The trace sink of the engine for these jobs; empty: no trace was requested. A job with an
  /// empty key was traced when it was first run.
  std::function<void(Trace)> trace_sink(const RunCell& cell, std::vector<JobKey> jobs);
  /// Stores the job's answers with their scores. `tokenizer`: of the arm's network.
  void finish(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
              const Request& request, const Answers& answers, const Tokenizer& tokenizer);
  /// Stores a failed job with the reason.
  void fail(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
            const std::string& reason);
  /// Whether a job that was run again gave the stored answers.
  bool same_answers(const RunCell& cell, int repeat, const JobPlan& job, const Answers& answers);
  /// Whether the block now has a time.
  bool finish_block(RowId block, std::int64_t wall_ns, const Occupancy& shared,
                    const MachineUse& machine);
  void repair_block(RowId block, std::int64_t wall_ns, const MachineUse& machine) {
    store_.repair_block(block, process_, wall_ns, machine);
  }
  /// Completes the trace. RunError.
  void close();
  /// Compares answers with the baselines' and stores the results. Marks all runs as done unless
  /// they were `stopped`.
  void finish_runs(bool stopped);

  const RunCounts& counts() const { return counts_; }
  RunCounts& counts() { return counts_; }

 private:
  void commit(JobRow job, const RunCell& cell, RowId block, int repeat,
              const std::vector<GenerationRow>& generations);

  const RunSpec& spec_;
  Store& store_;
  const std::vector<RunCell>& cells_;
  const std::string process_;
  std::unique_ptr<std::ofstream> trace_;
  RunCounts counts_;
};

}  // namespace pardec
