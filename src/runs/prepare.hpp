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

/// One arm on one dataset: what it does there, and its row in the store.
struct RunCell {
  const Workload* work;
  size_t index;  ///< of the arm
  const Arm* arm;
  std::optional<PromptFile> wording;  ///< of its decoder's own requests
  std::vector<std::string> notes;     ///< what a reader should know of its network
  RunRow row;                         ///< row.id: from the store
  Recording recording;                ///< that is forced; empty: none is

  const Decoder& decoder() const { return *arm->algorithm; }
  const Protocol& protocol() const { return work->protocols[index]; }
  Form form() const { return form_on(work->dataset.shape, decoder()); }
  const std::vector<JobPlan>& jobs(size_t block) const { return work->blocks[block].jobs[index]; }
};

/// What is to be run, dataset by dataset, each in the order of the arms; no rows yet, so no
/// database either. The arguments outlive the cells. ConfigError where a decoder's options do not
/// fit the network.
std::vector<RunCell> make_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                                ArmSessions& sessions);

/// Makes the rows of all cells, or finds them (`resume`, and `go_on` where there is one with the
/// same settings), and reads what is forced; nothing is stored. `notes` tells of
/// another run that could go on. Whether they were found.
/// ConfigError: no run to go on with, other settings, no recording of a job.
bool prepare(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
             Store& store, std::vector<RunCell>& cells, const Notes& notes);

/// The request of one job; a repeat has a seed of its own.
Request make_request(const RunSpec& spec, const RunCell& cell, const JobPlan& plan, int repeat,
                     const Session& session);

}  // namespace pardec
