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
  std::int64_t disturbed = 0;        ///< blocks with only disturbed measurements before the repair
  std::int64_t again = 0;            ///< number of blocks that were measured again
  std::int64_t quiet = 0;            ///< number of these that were not disturbed this time
  std::int64_t repaired_before = 0;  ///< number of other blocks that were repaired earlier
};

/// Counts of an invocation. The unit is one answer unless a member says otherwise.
struct RunCounts {
  std::int64_t finished = 0;  ///< finished answers, including those of earlier processes
  std::int64_t failed = 0;    ///< finished answers that failed
  /// number of later turns of conversations whose generated ids differ from the ids that the
  /// tokenizer gives for their text
  std::int64_t turns_off = 0;
  /// `torn`: number of blocks that an earlier process began but did not finish, so that all arms
  /// ran them again. `torn_in_vain`: number of torn blocks that still have no time.
  std::int64_t torn = 0, torn_in_vain = 0;
  /// number of jobs that were run again and gave other ids than the stored ones
  std::int64_t other_answers = 0;
  std::vector<RepairCounts> repairs;  ///< empty: no --repair
  /// `blocks_ns`: time from the first block's start to the last one's end. `busy_ns`: time in which
  /// a process had a block, summed over the processes.
  std::int64_t blocks_ns = 0, busy_ns = 0;

  double failed_share() const {
    return finished ? static_cast<double>(failed) / static_cast<double>(finished) : 0;
  }
};

/// ConfigError: the file of --trace cannot be written, or it is a file that the datasets were read
/// from.
void check_trace(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Stores the results of a run as they arrive: jobs when they finish, blocks when they are
/// measured, and one trace line per sequence.
class Recorder {
 public:
  /// Stores the beginning of the runs of all cells at once, so that an invocation that was killed
  /// is resumed as a whole. Opens the trace. If the constructor throws, nothing is stored. The
  /// arguments must outlive this object.
  Recorder(const RunSpec& spec, const std::vector<Workload>& workloads, Store& store,
           std::vector<RunCell>& cells);

  /// Sets the counts to the stored results of all processes.
  void count_finished();
  /// The stored states of all cells, in the order of the cells.
  std::vector<CellState> states() {
    return cell_states(store_, cells_, spec_.runs, spec_.retry_errors);
  }

  RowId begin_block(const BlockRow& row) { return store_.begin_block(row); }
  /// The function for Engine::set_trace_sink while these jobs run; empty: no trace was requested.
  /// Jobs with an empty key in `jobs` are not traced again.
  std::function<void(Trace)> trace_sink(const RunCell& cell, std::vector<JobKey> jobs);
  /// Stores a job, its answers and their scores. `tokenizer`: the tokenizer of the arm's network.
  void finish(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
              const Request& request, const Answers& answers, const Tokenizer& tokenizer);
  /// Stores a job that failed, with the reason.
  void fail(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
            const std::string& reason);
  /// Whether a job that was run again gave the same answers as the stored ones.
  bool same_answers(const RunCell& cell, int repeat, const JobPlan& job, const Answers& answers);
  /// Stores the time of a block. Returns whether the block has a time now (Store::finish_block).
  bool finish_block(RowId block, std::int64_t wall_ns, const Occupancy& shared,
                    const MachineUse& machine);
  void repair_block(RowId block, std::int64_t wall_ns, const MachineUse& machine) {
    store_.repair_block(block, process_, wall_ns, machine);
  }
  /// Closes the trace. RunError: writing failed.
  void close();
  /// Compares answers with the baselines' answers, and stores the results. Marks all runs as done
  /// unless `stopped`.
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
