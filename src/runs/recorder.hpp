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

/// What --repair found and did on one dataset.
struct RepairCounts {
  std::string dataset;
  std::int64_t disturbed = 0;  ///< blocks without a quiet time, before
  std::int64_t again = 0;      ///< of these measured again
  std::int64_t quiet = 0;      ///< of these undisturbed now
  std::int64_t repaired_before =
      0;  ///< others, disturbed at first and quiet since an earlier repair
};

/// What an invocation came to, in answers.
struct RunCounts {
  std::int64_t finished = 0;   ///< with those of earlier processes
  std::int64_t failed = 0;     ///< of them
  std::int64_t turns_off = 0;  ///< later turns whose ids are not those of their text
  /// Blocks that an earlier process had begun, and that were measured again whole by all arms,
  /// since a stop had cost them their time; and those of them that got none again.
  std::int64_t torn = 0, torn_in_vain = 0;
  std::int64_t other_answers = 0;     ///< jobs done once more that gave other ids than those stored
  std::vector<RepairCounts> repairs;  ///< empty: no --repair

  double failed_share() const {
    return finished ? static_cast<double>(failed) / static_cast<double>(finished) : 0;
  }
};

/// ConfigError where the file of --trace cannot be written, or the datasets were read from it.
void check_trace(const RunSpec& spec, const std::vector<Workload>& workloads);

/// Writes what a run does as it does it: a job when it is done, a block when it is measured, a
/// trace line for each sequence.
class Recorder {
 public:
  /// Begins the runs of all cells at once, so that a killed invocation is resumed whole, and opens
  /// the trace. The arguments outlive it. Nothing is stored when it throws.
  Recorder(const RunSpec& spec, const std::vector<Workload>& workloads, Store& store,
           std::vector<RunCell>& cells);

  /// Counts what earlier processes did.
  void count_finished();
  /// As they are now, in the order of the cells.
  std::vector<CellState> states() {
    return cell_states(store_, cells_, spec_.runs, spec_.retry_errors);
  }

  RowId begin_block(const BlockRow& row) { return store_.begin_block(row); }
  /// The engine's sink while these jobs run; empty: no trace is wanted. A job without a key was
  /// traced when it was first done.
  std::function<void(Trace)> trace_sink(const RunCell& cell, std::vector<JobKey> jobs);
  /// The job's answers with their scores; `tokenizer` is that of the arm's network.
  void finish(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
              const Request& request, const Answers& answers, const Tokenizer& tokenizer);
  /// Its rows carry the reason.
  void fail(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
            const std::string& reason);
  /// Whether a job that was done once more gave the answers that are stored.
  bool same_answers(const RunCell& cell, int repeat, const JobPlan& job, const Answers& answers);
  /// Whether the block has its time.
  bool finish_block(RowId block, std::int64_t wall_ns, const Occupancy& shared,
                    const MachineUse& machine);
  void repair_block(RowId block, std::int64_t wall_ns, const MachineUse& machine) {
    store_.repair_block(block, process_, wall_ns, machine);
  }
  /// The trace to its end. RunError.
  void close();
  /// Marks how answers compare with the baselines', and all runs done, unless they were `stopped`.
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
