#include "src/cli/dry_run.hpp"

#include <algorithm>
#include <iostream>

#include "src/cli/machine_notes.hpp"
#include "src/cli/plan_notes.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/unread_notes.hpp"
#include "src/findings/comparison.hpp"
#include "src/model/device.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/runs/prompt_sizes.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

void print_plan(const RunSpec& spec, const std::vector<Workload>& workloads,
                const std::optional<MemoryPlan>& memory, TableFormat format) {
  const std::vector<Arm>& arms = spec.arms;
  Table table;
  table.title = "Plan (nothing is run)";
  table.columns = with_dataset({{"split"},
                                {"examples", Align::right},
                                {"arm"},
                                {"decoder"},
                                {"options"},
                                {"form"},
                                {.header = "needs", .messages = true},
                                {"in flight", Align::right},
                                {"jobs", Align::right},
                                {"blocks", Align::right},
                                {"examples/block", Align::right, "examples_per_block"},
                                {"full", Align::right},
                                {"positions", Align::right},
                                {"too long", Align::right, "too_long"},
                                {"compared with"}});
  std::vector<ArmFace> seen;
  for (const Arm& arm : arms) seen.push_back(look_at(spec, arm));
  const auto jobs_of = [](const Workload& work, size_t arm) {
    std::int64_t jobs = 0;
    for (const auto& block : work.blocks) jobs += std::ssize(block.jobs[arm]);
    return jobs;
  };
  std::int64_t all_jobs = 0, tokenized = 0;
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) all_jobs += jobs_of(work, a);
  std::optional<Progress> progress;
  if (std::any_of(seen.begin(), seen.end(), [](const ArmFace& arm) { return arm.chat; }))
    progress.emplace(spec.progress, "prompts", all_jobs);
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a) {
      const Shape shape = work.dataset.shape;
      const std::int64_t jobs = jobs_of(work, a);
      const double full = full_share(work.blocks, a, arms[a].batch_size);
      const std::string who = str(work.dataset.name, ", ", arms[a].label);
      const auto sizes =
          seen[a].chat && work.runs(a) && !seen[a].needs.lacking
              ? std::optional(prompt_sizes(spec, work, a, *seen[a].face, *seen[a].chat,
                                           [&] { progress->update(++tokenized, ""); }))
              : std::nullopt;
      const auto baseline = baseline_on(spec, work, a);
      table.rows.push_back(with_dataset(
          dataset_cells(work.dataset),
          {work.dataset.split, number_cell(static_cast<std::int64_t>(work.examples.size())),
           arms[a].label, arms[a].decoder, dump(arms[a].algorithm->options()),
           work.runs(a) ? std::string(name(form_on(shape, *arms[a].algorithm))) : "n/a",
           seen[a].needs.lacking ? "lacking" : seen[a].needs.text,
           number_cell(static_cast<std::int64_t>(arms[a].batch_size)),
           work.runs(a) ? number_cell(jobs * spec.runs) : Cell("n/a", Json()),
           number_cell(std::ssize(work.blocks)),
           number_cell(
               static_cast<double>(work.examples.size()) / static_cast<double>(work.blocks.size()),
               1),
           work.runs(a) ? Cell(percent(full, 0), Json(full)) : no_cell(),
           sizes && sizes->least
               ? Cell(str(*sizes->least, " to ", sizes->most), Json{*sizes->least, sizes->most})
               : no_cell(),
           sizes ? number_cell(sizes->too_long) : no_cell(),
           baseline ? arms[*baseline].label : "-"}));
      if (!work.runs(a)) table.notes.push_back(str("n/a: ", who, ": it ", work.not_applicable[a]));
      add_fill_note(table, who, full, jobs, std::ssize(work.blocks), arms[a].batch_size);
      if (sizes) add_size_notes(table, who, *sizes, jobs, seen[a].face->config);
    }
  progress.reset();
  table.notes.push_back(
      "full: share of the jobs during which the batch is full (each block begins and ends with no "
      "running job); positions: that jobs need, smallest to largest.");
  for (const auto& work : workloads) table.notes.push_back(block_note(spec, work));
  for (const AddedBaseline& one : added_baselines(arms))
    table.notes.push_back(added_baseline_note(one.label, one.serves));
  for (const auto& work : workloads)
    if (std::ssize(work.blocks) < kFewestBlocks &&
        std::any_of(arms.begin(), arms.end(), [&](const Arm& arm) {
          return baseline_on(spec, work, static_cast<size_t>(&arm - arms.data()));
        }))
      table.notes.push_back(str(work.dataset.name, ": ", counted(std::ssize(work.blocks), "block"),
                                spec.runs > 1 ? ", whatever the repeats" : "",
                                ", and a speedup's interval needs ", kFewestBlocks,
                                ": more examples, a smaller batch_size or --block give more"));
  for (const auto& work : workloads)
    if (asks_alone(work.dataset.shape, arms))
      table.notes.push_back(protocol_note(spec, work));
    else if (const auto shots = std::ssize(work.protocols.front().shots); shots > 0)
      table.notes.push_back(
          str(work.dataset.name, ": ", counted(shots, "worked example"), " before each prompt"));
  for (std::string& note : unread_notes(workloads)) table.notes.push_back(std::move(note));
  for (const auto& work : workloads)
    if (spec.unseen)
      table.notes.push_back(str(work.dataset.name, ": ", counted(work.seen, "example"), " of ",
                                work.dataset.split, " left out, whose text is also in train"));
  table.notes.push_back(str("database: ", spec.db, "; ", networks_note(spec)));
  add_file_notes(table, spec, seen);
  if (memory) table.notes.push_back(str("memory: ", describe(*memory, spec.cache)));
  if (spec.model.device == "cpu")
    if (const LeftByOthers left =
            left_by_others(spec.model.threads > 0 ? spec.model.threads : threads());
        !left.fits)
      table.notes.push_back(str("threads: ", left.text));
  if (std::any_of(seen.begin(), seen.end(), [](const ArmFace& arm) { return !arm.face; }))
    table.notes.push_back(
        "the needs of decoders were not checked on a network; --model DIR names one that exists");
  print_table(table, format);
  for (size_t a = 0; a < arms.size(); ++a)
    if (seen[a].needs.lacking)
      throw ConfigError(str("arm '", arms[a].label, "' cannot run: ", seen[a].needs.text));
}

}  // namespace pardec
