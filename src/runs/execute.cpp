#include "src/runs/execute.hpp"

#include <algorithm>
#include <set>

#include "src/findings/speed_findings.hpp"
#include "src/model/device.hpp"
#include "src/runs/prepare.hpp"
#include "src/runs/runner.hpp"
#include "src/runs/shared_run.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tasks/conversation.hpp"

namespace pardec {

namespace {

/// Messages for the user before the run begins.
void tell_of_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                   const std::vector<RunCell>& cells, const Notes& notes) {
  for (const Workload& work : workloads)
    if (work.dataset.sample) tell(notes, own_sample_note(work.dataset));
  for (const Workload& work : workloads)
    for (size_t a = 0; a < spec.arms.size(); ++a)
      if (!work.runs(a))
        tell(notes, str(work.dataset.name, ", ", visible_text(spec.arms[a].label), ": n/a: it ",
                        work.not_applicable[a]));
  for (const RefusedArm& arm : spec.refused)
    tell(notes, str(visible_text(arm.label), ": cannot be run: ", visible_text(arm.reason)));
  std::set<std::string> said;
  const bool several = several_networks(spec);
  const auto say = [&](const std::string& who, const std::string& note) {
    if (!note.empty() && said.insert(who + note).second) tell(notes, str(who, ": ", note));
  };
  for (const RunCell& cell : cells)
    for (const std::string& note : cell.notes)
      say(several ? "model " + networks_of(spec, *cell.arm).model : "model", note);
  for (const RunCell& cell : cells)
    say(cell.work->dataset.name + (several ? ", " + visible_text(cell.arm->label) : ""),
        cell.row.config.value("taught_otherwise", ""));
}

/// Whether the speedup of a cell is known with sufficient precision. A baseline has enough if all
/// arms that are compared with it have.
bool has_enough(Store& store, const RunSpec& spec, const std::vector<RunCell>& cells,
                const RunCell& cell) {
  const auto compared = [&](const RunCell& method, const RunCell& baseline) {
    return method.work == baseline.work && method.row.baseline == baseline.row.label;
  };
  bool is_baseline = false;
  for (const RunCell& other : cells) {
    is_baseline = is_baseline || compared(other, cell);
    if (!compared(cell, other)) continue;
    const auto speedup = speedup_of(store, other.row, cell.row, 0.95);
    return speedup && is_within(speedup->ratio, spec.target_ci);
  }
  return is_baseline;
}

/// Reports what was measured again, and the results.
void tell_of_measured_again(const RunCounts& counts, const Notes& notes) {
  if (counts.rerun > 0)
    tell(notes, str(counted(counts.rerun, "block"),
                    " measured again by all arms, since no one process had measured it whole (a "
                    "stop, or a failed job)",
                    counts.still_unmeasured == 0
                        ? ""
                        : str("; ", counts.still_unmeasured, " of them are still not measured")));
  for (const RepairCounts& repair : counts.repairs) {
    std::string text = str("repair: ", repair.dataset, ": ");
    if (repair.disturbed == 0) {
      text += repair.repaired_before == 0
                  ? "no block is disturbed; nothing was measured again"
                  : str("nothing was measured again; ", repair.repaired_before,
                        " of the blocks had been disturbed, and were quiet when measured again");
    } else {
      const std::int64_t left = repair.disturbed - repair.again, loud = repair.again - repair.quiet;
      text += str(repair.again, " of ", counted(repair.disturbed, "disturbed block"),
                  " measured again: ", repair.quiet, " quiet now",
                  loud > 0 ? str(", ", loud, " disturbed again") : "",
                  left > 0 ? str("; ", left, " left, a larger `repair` takes more") : "");
    }
    tell(notes, text);
  }
  if (counts.other_answers > 0)
    tell(notes, str(counted(counts.other_answers, "job"),
                    " gave other tokens than those stored, so the new time was not stored"));
}

void tell_of_idle(const RunCounts& counts, int processes, const Notes& notes) {
  const double all = static_cast<double>(counts.blocks_ns) * processes;
  if (all <= 0) return;
  tell(notes, str(processes, " processes had no block in ",
                  percent(1 - static_cast<double>(counts.busy_ns) / all), " of their time"));
}

}  // namespace

std::string own_sample_note(const Dataset& dataset) {
  return str(dataset.name, ": no `data_root`, so the project's own sample of ",
             dataset.examples.size(), " examples is used");
}

Execution execute(const RunSpec& spec, const std::vector<Workload>& workloads,
                  ArmSessions& sessions, const ExecuteOptions& how) {
  Execution done;
  Group* const group = how.group;
  if (group) check_shared(spec);
  if (group && group->rank() > 0) {
    join_shared_run(spec, workloads, sessions, how);
    done.stopped = how.stop.stop_requested();
    return done;
  }
  // A new database is created only after everything that may fail before a run has been done. So no
  // empty database is left after a failure, and none must be removed that another process may have
  // started to use.
  const OpenOptions options{.create_folders = how.create_folders, .resumes = !spec.go_on};
  if (Store::exists(spec.db, options))
    done.store = std::make_unique<Store>(spec.db, options);
  else if (spec.resume)
    throw ConfigError(
        str("`resume`: ", spec.db, " does not exist; leave `resume` out to begin a run"));
  else if (const Arm* arm = forced_arm(spec.arms, "recorded"))
    throw ConfigError(str("`oracle` ", arm->oracle.text, ": ", spec.db,
                          " does not exist; expected the database that holds the recorded run"));
  std::vector<RunCell> cells = make_cells(spec, workloads, sessions);
  done.stopped = !group && how.stop.stop_requested();
  if (done.stopped) return done;  // nothing has begun
  check_trace(spec, workloads);
  if (!done.store) done.store = std::make_unique<Store>(spec.db, options);
  Store& store = *done.store;
  sessions.record_in(store);
  const bool found = prepare(spec, workloads, sessions, store, cells, how.notes);
  done.invocation = cells.front().row.invocation;
  Recorder recorder(spec, workloads, store, cells);
  if (group)
    begin_shared_run(*group, store, done.invocation);
  else if (found)
    collect_left(store, done.invocation);
  tell_of_cells(spec, workloads, cells, how.notes);
  if (found && spec.go_on)
    tell(how.notes, str("continues invocation ", done.invocation.substr(0, 8), " of ", spec.db));

  // mpirun may kill all processes soon after the signal, so this cannot be said later.
  const std::stop_callback stopping(how.stop, [&] {
    if (group)
      tell(how.notes, str("stopping; all stored results stay, and the same command",
                          spec.go_on ? "" : " with `resume`", " continues"));
  });
  const auto enough = [&](const RunCell& cell) { return has_enough(store, spec, cells, cell); };
  const std::stop_token until = how.until.value_or(how.stop);
  run_cells(spec, workloads, sessions, cells, recorder, until,
            spec.target_ci > 0 ? enough : std::function<bool(const RunCell&)>(), group);
  bool stopped = until.stop_requested();
  if (group) {
    const OthersEnd others = end_shared_run(*group, store, done.invocation, recorder.counts());
    done.stopped = others.stopped;
    stopped = stopped || others.unfinished;
    recorder.count_finished(/*before=*/false);
    tell_of_idle(recorder.counts(), group->size(), how.notes);
  }
  recorder.finish_runs(stopped);
  done.counts = recorder.counts();
  store.check_place();
  if (const auto peak = device_memory_peak(spec.model.device))
    store.note_device_memory(done.invocation, *peak);
  tell_of_measured_again(done.counts, how.notes);
  if (done.counts.turns_off > 0) tell(how.notes, describe_turns_off(done.counts.turns_off));
  done.stopped = done.stopped || how.stop.stop_requested();
  return done;
}

}  // namespace pardec
