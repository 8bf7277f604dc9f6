#include "src/runs/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "src/engine/trace.hpp"
#include "src/runs/record.hpp"
#include "src/scoring/dataset_rows.hpp"
#include "src/scoring/identities.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/support/error.hpp"
#include "src/support/read_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/conversation.hpp"

namespace pardec {

namespace {

/// None: forced answers have no scores.
std::optional<std::vector<const TaskMetric*>> metrics_for(const RunCell& cell) {
  if (!cell.arm->oracle.kind.empty()) return std::nullopt;
  return metrics_of(*cell.work->entry);
}

/// In the form of the store; null: nothing was measured.
Json stored_load(const std::vector<LoadSums>& windows) {
  if (windows.empty()) return {};
  Json load = Json::array();
  for (const LoadSums& one : windows) {
    const double rows =
        one.ns == 0 ? 0 : static_cast<double>(one.row_ns) / static_cast<double>(one.ns);
    load.push_back({one.ns, std::round(rows * 10) / 10, one.tokens, one.waiting_ns});
  }
  return load;
}

}  // namespace

void check_trace(const RunSpec& spec, const std::vector<Workload>& workloads) {
  if (spec.trace.empty()) return;
  ReadFiles read;
  for (const Workload& work : workloads)
    for (const auto& file : work.dataset.files) read.add("dataset " + work.dataset.name, file);
  read.check("`trace`", spec.trace);
  // Opening a pipe twice would signal its reader the end after the first time.
  std::error_code ignored;
  if (const auto status = std::filesystem::status(spec.trace, ignored);
      !std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    open_trace(spec.trace, std::ios::app);
}

Recorder::Recorder(const RunSpec& spec, const std::vector<Workload>& workloads, Store& store,
                   std::vector<RunCell>& cells)
    : spec_(spec), store_(store), cells_(cells), process_(make_uuid()) {
  // A resumed run appends to its trace.
  if (!spec.trace.empty())
    trace_ = open_trace(spec.trace, spec.resume || spec.go_on ? std::ios::app : std::ios::trunc);
  for (RunCell& cell : cells) cell.row.id = store.begin_run(cell.row);
  store.put_process(process_, host_name(), cells.front().row.environment);
  for (const Workload& work : workloads)
    for (const RunCell& cell : cells)
      if (cell.work == &work) {
        store.put_samples(store.dataset_of(cell.row.id), sample_rows(work.examples));
        break;
      }
}

void Recorder::count_finished(bool before) {
  counts_.finished = counts_.failed = 0;
  for (const RunCell& cell : cells_)
    for (const FinishedJob& job : store_.finished_jobs(cell.row.id)) {
      if (before && job.failed && spec_.retry_errors) continue;
      counts_.finished += std::ssize(job.key);
      if (job.failed) counts_.failed += std::ssize(job.key);
    }
}

std::function<void(Trace)> Recorder::trace_sink(const RunCell& cell, std::vector<JobKey> jobs) {
  if (!trace_) return {};
  return [this, label = cell.arm->label, dataset = cell.row.dataset.name,
          jobs = std::move(jobs)](Trace trace) {
    if (jobs[static_cast<size_t>(trace.job)].empty()) return;
    trace.arm = label;
    trace.dataset = dataset;
    trace.examples = jobs[static_cast<size_t>(trace.job)];
    *trace_ << dump(to_json(trace)) << "\n";
  };
}

void Recorder::commit(JobRow job, const RunCell& cell, RowId block, int repeat,
                      const std::vector<GenerationRow>& generations) {
  job.run = cell.row.id;
  job.block = block;
  job.repeat = repeat;
  job.process = process_;
  store_.commit_job(job, generations);
  counts_.finished += std::ssize(job.key);
}

void Recorder::finish(const RunCell& cell, RowId block, int repeat, const JobPlan& job,
                      const Request& request, const Answers& answers, const Tokenizer& tokenizer) {
  std::vector<GenerationRow> generations;
  try {
    generations =
        generation_rows(cell.work->examples_of(job), answers, metrics_for(cell), &tokenizer);
    counts_.turns_off += turns_off_text(request, answers, tokenizer);
  } catch (const std::exception& error) {
    fail(cell, block, repeat, job, reason_of(error));
    return;
  }
  commit(job_row(job.key, answers), cell, block, repeat, generations);
}

void Recorder::fail(const RunCell& cell, RowId block, int repeat, const JobPlan& plan,
                    const std::string& reason) {
  JobRow job;
  job.key = plan.key;
  job.error = reason;
  counts_.failed += std::ssize(plan.key);
  commit(std::move(job), cell, block, repeat,
         failed_rows(cell.work->examples_of(plan), reason, metrics_for(cell)));
}

bool Recorder::same_answers(const RunCell& cell, int repeat, const JobPlan& job,
                            const Answers& answers) {
  const auto rows = generation_rows(cell.work->examples_of(job), answers, std::nullopt, nullptr);
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const GenerationRow& row) {
    return store_.answer_ids(cell.row.id, repeat, row.sample) == row.tokens;
  });
  counts_.other_answers += !same;
  return same;
}

bool Recorder::finish_block(RowId block, std::int64_t wall_ns, const Occupancy& shared,
                            const MachineUse& machine) {
  return store_.finish_block(
      block, process_, wall_ns,
      {shared.passes, shared.job_passes, shared.stream_passes, shared.experts_read},
      stored_load(shared.load), {machine, trace_ != nullptr});
}

void Recorder::close() {
  if (trace_ && !trace_->flush())
    throw RunError(str("`trace`: ", spec_.trace, " could not be written to its end"));
}

void Recorder::finish_runs(bool stopped) {
  for (const RunCell& cell : cells_)
    if (!stopped) store_.finish_run(cell.row.id, RunStatus::done);
  mark_identities(store_, cells_.front().row.invocation);
}

}  // namespace pardec
