#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/runs/arm_sessions.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/recording.hpp"
#include "src/runs/run_spec.hpp"
#include "src/runs/workload.hpp"
#include "src/store/store.hpp"
#include "src/support/notes.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/request.hpp"
#include "src/tasks/session.hpp"

namespace pardec {

/// One arm on one dataset, and its row in the store.
struct RunCell {
  const Workload* work;
  size_t index;  ///< index of the arm
  const Arm* arm;
  std::optional<PromptFile> wording;  ///< wording of its decoder's own requests
  std::vector<std::string> notes;     ///< notes for the user about its network
  RunRow row;                         ///< row.id is set by the store
  Recording recording;                ///< the recording that is forced; empty: none

  const Decoder& decoder() const { return *arm->algorithm; }
  const Protocol& protocol() const { return work->protocols[index]; }
  Form form() const { return form_on(work->dataset.shape, decoder()); }
  const std::vector<JobPlan>& jobs(size_t block) const { return work->blocks[block].jobs[index]; }
};

/// All cells that run, by dataset, in the order of the arms. They have no rows yet, so no database
/// is needed. The arguments must outlive the cells. ConfigError: a decoder's options do not fit the
/// network.
std::vector<RunCell> make_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                                ArmSessions& sessions);

/// Creates the rows of all cells, and reads what is forced. They belong to no invocation yet.
/// Stores nothing. ConfigError: a job has no recording.
void make_rows(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               Store& store, std::vector<RunCell>& cells);

/// Makes rows as above or finds stored ones (with `resume`, and with `go_on` if there is
/// a run with the same settings), and reads what is forced. Stores nothing. `notes` mention another
/// run that could be resumed. Returns whether stored rows were found. ConfigError: there is no run
/// to resume, its settings differ, or a job has no recording.
bool prepare(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
             Store& store, std::vector<RunCell>& cells, const Notes& notes);

/// The request of one job; each repeat has its own seed.
Request make_request(const RunSpec& spec, const RunCell& cell, const JobPlan& plan, int repeat,
                     ArmSessions& sessions);

}  // namespace pardec
