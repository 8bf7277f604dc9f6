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
  /// wording of the additional prompts that the arm's decoder makes (Decoder::wording); none: the
  /// decoder makes no additional prompts
  std::optional<PromptFile> wording;
  std::vector<std::string> notes;  ///< notes for the user about the arm's network
  RunRow row;                      ///< row.id is set by the store
  Recording recording;  ///< the recorded choices that are forced; empty: nothing is forced

  const Decoder& decoder() const { return *arm->algorithm; }
  const Protocol& protocol() const { return work->protocols[index]; }
  Form form() const { return form_on(work->dataset.shape, decoder()); }
  const std::vector<JobPlan>& jobs(size_t block) const { return work->blocks[block].jobs[index]; }
};

/// Loads the networks, and creates all cells that can run, ordered by dataset and arm. Needs no
/// database: RunCell::row, notes and recording stay empty. The arguments must outlive the cells.
/// ConfigError: a decoder's options do not fit the network. Other errors: see ArmSessions::of,
/// ArmSessions::service, and choose_prompt for the wordings.
std::vector<RunCell> make_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                                ArmSessions& sessions);

/// Sets RunCell::row and RunCell::notes of all cells, and reads the recordings that are forced
/// (RunCell::recording). RunRow::invocation stays empty. Stores nothing. ConfigError: a recording
/// cannot be used (read_recording), or does not include a job of its cell. StoreError: the database
/// cannot be read. ModelError, DataError: see read_training_record, model_row and dataset_row.
/// Other errors: see ArmSessions::of and ArmSessions::service.
void make_rows(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               Store& store, std::vector<RunCell>& cells);

/// Calls make_rows, and sets RunRow::invocation of all rows. With spec.resume, the cells continue
/// the newest stored run of these arms. With spec.go_on, the cells continue the newest stored run
/// with the same settings, if there is such a run. Rows that continue a run have the invocation and
/// the uuids of this run. If no run is continued, the invocation is new. Stores nothing. If another
/// run could be resumed too, a message is sent to `notes`. Returns whether a stored run is
/// continued. ConfigError: there is no run to resume, or its settings differ. Other errors: see
/// make_rows. REQUIRES: there is at least one cell.
bool prepare(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
             Store& store, std::vector<RunCell>& cells, const Notes& notes);

/// Creates the request of one job. `repeat` counts from 0; each repeat has its own seed. Errors:
/// see ArmSessions::of, ArmSessions::service, and make_request in src/tasks/request.hpp. REQUIRES:
/// if the arm's oracle is a recording, RunCell::recording has the job (make_rows).
Request make_request(const RunSpec& spec, const RunCell& cell, const JobPlan& plan, int repeat,
                     ArmSessions& sessions);

}  // namespace pardec
