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
  size_t index;  ///< index of the arm in RunSpec::arms
  const Arm* arm;
  std::optional<PromptFile> wording;  ///< wording of requests that only its decoder makes
  std::vector<std::string> notes;     ///< notes for the user about its network
  RunRow row;                         ///< row.id is set by the store
  Recording recording;                ///< the recorded choices that are forced; empty: none

  const Decoder& decoder() const { return *arm->algorithm; }
  const Protocol& protocol() const { return work->protocols[index]; }
  Form form() const { return form_on(work->dataset.shape, decoder()); }
  const std::vector<JobPlan>& jobs(size_t block) const { return work->blocks[block].jobs[index]; }
};

/// Creates all cells that can run, ordered by dataset and arm. RunCell::row is not stored, so no
/// database is needed. The arguments must outlive the cells. ConfigError: a decoder's options do
/// not fit the network.
std::vector<RunCell> make_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                                ArmSessions& sessions);

/// Creates the rows of all cells, and reads the recordings that are forced. The rows belong to no
/// invocation yet. Stores nothing. ConfigError: a job has no recording.
void make_rows(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               Store& store, std::vector<RunCell>& cells);

/// Sets the row and the recording of each cell. With spec.resume, the rows are read from a stored
/// run. With spec.go_on, they are read from a stored run if there is one with the same settings.
/// Stores nothing. `notes` gets a message if another run could be resumed. Returns whether the rows
/// were read from a stored run. ConfigError: there is no run to resume, its settings differ, or a
/// job has no recording.
bool prepare(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
             Store& store, std::vector<RunCell>& cells, const Notes& notes);

/// Creates the request of one job. Each repeat has its own seed.
Request make_request(const RunSpec& spec, const RunCell& cell, const JobPlan& plan, int repeat,
                     ArmSessions& sessions);

}  // namespace pardec
