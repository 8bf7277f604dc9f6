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
  std::int64_t disturbed = 0;  ///< number of blocks that were disturbed, and not repaired before
  std::int64_t again = 0;      ///< number of these blocks that were measured again
  std::int64_t quiet = 0;      ///< how many of the blocks in `again` were undisturbed this time
  std::int64_t repaired_before = 0;  ///< number of other blocks that were repaired earlier
};

/// Counts of an invocation. The unit is one answer unless a member says otherwise.
struct RunCounts {
  /// Finished answers, including those of earlier processes. Failed answers of earlier processes
  /// do not count if they will be run again (RunSpec::retry_errors).
  std::int64_t finished = 0;
  std::int64_t failed = 0;  ///< finished answers that failed
  /// number of turns, of all conversations, whose prompts have other token ids than the same text
  /// tokenized at once (turns_off_text)
  std::int64_t turns_off = 0;
  /// `rerun`: number of blocks that were run again although they had stored jobs: after a stop or a
  /// failed job, no single process had measured them for all arms. `still_unmeasured`: number of
  /// these blocks that still have no such measurement.
  std::int64_t rerun = 0, still_unmeasured = 0;
  /// number of jobs that were run again and gave other ids than the stored ones
  std::int64_t other_answers = 0;
  std::vector<RepairCounts> repairs;  ///< empty: no --repair
  /// `blocks_ns`: time from the start of the first block to the end of the last block. `busy_ns`:
  /// time in which a process ran a block, summed over the processes.
  std::int64_t blocks_ns = 0, busy_ns = 0;

  /// The share of finished answers that failed; 0 if no answer is finished.
  double failed_share() const {
    return finished ? static_cast<double>(failed) / static_cast<double>(finished) : 0;
  }
};

/// Checks the file of --trace. ConfigError: the file cannot be written, or a dataset was
/// read from it.
void check_trace(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Stores the results of a run as they arrive: jobs when they finish, blocks when they are
/// measured, and one trace line per sequence. Functions that use the database throw StoreError if
/// it cannot be read or written, or if it was removed or replaced (Store::check_place).
class Recorder {
 public:
  /// Opens the trace. Then stores the beginning of the runs of all cells, before any job is run, so
  /// that an invocation that is killed later can be resumed as a whole. Sets RunCell::row.id. The
  /// arguments must outlive this object. ConfigError: the trace cannot be opened; nothing is stored
  /// then. REQUIRES: there is at least one cell.
  Recorder(const RunSpec& spec, const std::vector<Workload>& workloads, Store& store,
           std::vector<RunCell>& cells);

  /// Sets RunCounts::finished and RunCounts::failed to the numbers of stored answers, from all
  /// processes. Call this before the first block and after the last block. `before`: true in the
  /// first of these calls, in which failed answers that will be run again do not count.
  void count_finished(bool before);
  /// The stored states of all cells, in the order of the cells.
  std::vector<CellState> states() {
    return cell_states(store_, cells_, spec_.runs, spec_.retry_errors);
  }

  /// Stores the block, without a time, unless it is stored already. Returns the block's id. Errors:
  /// also those of Store::begin_block.
  RowId begin_block(const BlockRow& row) { return store_.begin_block(row); }
  /// The function for Engine::set_trace_sink while these jobs run; empty: no trace was requested.
  /// `jobs[i]`: the key of the job whose Trace::job is i. If the key is empty, the job's trace is
  /// not written, because the job's answers are stored already.
  std::function<void(Trace)> trace_sink(const RunCell& cell, std::vector<JobKey> jobs);
  /// Stores a job, its answers and their scores. If the scoring fails, stores the job as failed.
  /// `request`: the request that the job answered. `tokenizer`: the tokenizer of the arm's network.
  void finish(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
              const Request& request, const Answers& answers, const Tokenizer& tokenizer);
  /// Stores a job that failed, with the reason.
  void fail(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
            const std::string& reason);
  /// Whether a job that was run again gave the same tokens as the stored answers. If it did not,
  /// counts the job in RunCounts::other_answers.
  bool same_answers(const RunCell& cell, int repeat, const JobPlan& job, const Answers& answers);
  /// Stores the time of a block (`wall_ns`, in nanoseconds), the occupancy of its passes
  /// (`shared`), and the use of the machine. Returns whether the block has a time now
  /// (Store::finish_block).
  bool finish_block(RowId block, std::int64_t wall_ns, const Occupancy& shared,
                    const MachineUse& machine);
  /// Stores a second measurement of a disturbed block (Store::repair_block).
  void repair_block(RowId block, std::int64_t wall_ns, const MachineUse& machine) {
    store_.repair_block(block, process_, wall_ns, machine);
  }
  /// Writes what is left of the trace to its file. RunError: the trace could not be written.
  void close();
  /// Marks the runs of all cells as done unless `stopped`. Then compares the answers with the
  /// baselines' answers, and stores the results (mark_identities).
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
