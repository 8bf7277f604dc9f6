// `pardec sweep`: a grid of settings, in which each cell is an arm of one run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/run_end.hpp"
#include "src/cli/run_flags.hpp"
#include "src/cli/slurm_scripts.hpp"
#include "src/cli/sweep_plan.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/tensor_ranks.hpp"
#include "src/findings/best_cells.hpp"
#include "src/report/comparison_table.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

namespace {

/// ConfigError, ModelError: the arm's network does not meet its requirements, as far as they are
/// known without weights. --memory-limit applies to each cell as if it ran alone.
void check_without_weights(RunSpec& spec, Arm& arm) {
  const ModelOptions networks = networks_of(spec, arm);
  if (arm.algorithm->drafts_with_model()) check_draft_flag(networks, true);
  const auto face = read_face(networks);
  const Needs needs = needs_of(*arm.algorithm, face ? &*face : nullptr, networks.draft_model);
  if (needs.lacking) throw ConfigError(needs.text);
  if (!face || networks.memory_limit.empty() || arm.algorithm->elsewhere()) return;
  CacheBudget cache = cache_of(spec, arm);
  apply_limit(plan_memory({networks}, cache.block_rows), networks, cache);
  arm.cache_blocks = cache.blocks;
  cache.blocks = spec.cache.blocks;
  spec.cache = cache;
}

/// "1.02 [0.99, 1.05]"
std::string shown(const Interval& ratio) {
  return str(fixed(ratio.estimate, 2),
             std::isfinite(ratio.low)
                 ? str(" [", fixed(ratio.low, 2), ", ", fixed(ratio.high, 2), "]")
                 : "");
}

/// The memory of a cell, based on the largest of its jobs.
std::string memory_of(const RunSpec& spec, const ArmFinding& cell) {
  for (const Arm& arm : spec.arms)
    if (arm.label == cell.run.run.label && !arm.algorithm->elsewhere())
      return str("at most ", shown_bytes(cell_bytes(spec, arm, cell.run.totals.cached_peak).all));
  return "";
}

/// Further cells are only counted.
constexpr size_t kNamed = 5;

std::string best_note(const RunSpec& spec, const Comparison& comparison, const BestCell& cell) {
  const ArmFinding* baseline = comparison.baseline_of(*cell.best);
  const std::string limit = spec.model.memory_limit;
  std::string note = str("best cell of ", cell.dataset, limit.empty() ? "" : " under " + limit,
                         ": ", cell.best->run.run.label,
                         cell.best->speedup ? str(", ", shown(cell.best->speedup->ratio),
                                                  " times as fast as ", baseline->run.run.label)
                                            : "",
                         ", ", memory_of(spec, *cell.best));
  std::vector<std::string> open;
  for (const ArmFinding* arm : cell.undecided)
    if (open.size() < kNamed) open.push_back(arm->run.run.label);
  const std::string undecided =
      open.empty() ? ""
                   : str(" Not decided, answers open: ", join(open, ", "),
                         cell.undecided.size() > kNamed
                             ? str(" and ", cell.undecided.size() - kNamed, " more")
                             : "",
                         ".");
  if (cell.ties.empty())
    return str(note,
               cell.slower == 0 ? "; no other cell has answers that are shown to be as good."
                                : str("; shown to be faster than ",
                                      counted(cell.slower, "other cell"), " with answers as good."),
               undecided);
  std::vector<std::string> ties;
  for (const BestCell::Tie& tie : cell.ties) {
    if (ties.size() == kNamed) break;
    ties.push_back(str(tie.arm->run.run.label, " (its seconds are ", shown(tie.ratio), " times)"));
  }
  return str(note, "; no difference in speed is shown from: ", join(ties, ", "),
             cell.ties.size() > kNamed ? str(" and ", cell.ties.size() - kNamed, " more") : "",
             std::isfinite(cell.ties.front().ratio.low)
                 ? ""
                 : str(" (no interval over fewer than ", kFewestBlocks, " blocks)"),
             ".", undecided);
}

/// Writes the scripts of `slurm`, with at most `tasks`, and prints how to submit them.
void write_slurm_scripts(const RunSpec& spec, const OutputSettings& output, int tasks,
                         const std::vector<Workload>& workloads, const SweepPlan& plan) {
  size_t blocks = 0;
  for (const Workload& work : workloads) blocks = std::max(blocks, work.blocks.size());
  SlurmArray array{
      .verb = "sweep",
      .program = program_file().string(),
      .arguments =
          without({spec.argv.begin() + 1, spec.argv.end()}, {"--slurm", "--slurm-tasks", "--db"}),
      .shown_by = {"compare"},
      .folder = std::filesystem::current_path(),
      .script = output.slurm,
      .db = spec.db,
      .tasks = std::min(tasks, static_cast<int>(blocks)),
      .threads = spec.model.threads > 0 ? spec.model.threads
                                        : static_cast<int>(std::thread::hardware_concurrency()),
      .gpu = spec.model.device != "cpu",
      .bytes = plan.bytes,
      .about = {"Each task runs all cells on every N-th block. Expected for each cell, "
                "of all tasks together:"}};
  array.task_seconds = plan.seconds / array.tasks;
  for (const std::string& cell : plan.cells) array.about.push_back("  " + cell);
  // The arms of all tasks compute with equally many threads.
  if (spec.model.threads == 0) {
    array.arguments.emplace_back("--threads");
    array.arguments.push_back(std::to_string(array.threads));
  }
  if (array.tasks < tasks)
    print_note(str("--slurm-tasks: ", counted(array.tasks, "task"),
                   ", since no dataset has more blocks; a smaller --block makes more"));
  write_scripts(array);
}

int sweep(CLI::App& app, RunFlags& flags) {
  complete(app, flags);
  RunSpec& spec = flags.spec;
  const OutputSettings& output = flags.settings.output;
  const TableFormat format = parse_table_format(output.format);
  const int tasks = checked_slurm_tasks(output.slurm, output.slurm_tasks);
  const auto ranks = join_tensor_ranks(spec.model);
  if (ranks && !ranks->leads()) return follow_rank_0(*ranks, spec.model);
  if (!output.slurm.empty() && !spec.shard.text.empty())
    throw ConfigError("`slurm` divides the blocks among its tasks; leave `shard` out");
  if (!output.slurm.empty() && output.dry_run)
    throw ConfigError("`slurm` prints the plan of a dry run itself; leave `dry_run` out");
  if (!output.slurm.empty() && flags.settings.fresh)
    throw ConfigError(
        "`slurm`: a task that is queued again continues; leave `fresh` out, or give another `db`");
  if (!output.slurm.empty() && !spec.trace.empty())
    throw ConfigError("`slurm`: all tasks would write the same trace; leave `trace` out");
  if (!spec.model.draft_model.empty())
    check_draft_flag(
        spec.model, std::any_of(spec.arms.begin(), spec.arms.end(),
                                [](const Arm& arm) { return arm.algorithm->drafts_with_model(); }));
  check_arms(spec, [&](Arm& arm) { check_without_weights(spec, arm); });
  std::vector<Workload> workloads = load_workloads(spec);
  check_any_runs(spec, workloads);

  const SignalStop stop;
  const auto group = ranks ? nullptr : join_group(spec.progress);
  const bool follows = group && group->rank() > 0;
  if (output.dry_run && follows) return 0;
  ArmSessions sessions(spec);
  const size_t refused = spec.refused.size();
  check_arms(spec, [&](Arm& arm) { arm.algorithm->check(sessions.of(arm).context); });
  if (spec.refused.size() > refused) workloads = load_workloads(spec);  // with the remaining arms
  const auto code_of_cells = [&] { return spec.refused.empty() ? 0 : 3; };
  if (output.dry_run || !output.slurm.empty()) {
    const SweepPlan plan = plan_sweep(spec, workloads, sessions);
    print_table(plan.table, format);
    if (stop.signal()) return 128 + stop.signal();
    if (!output.slurm.empty()) write_slurm_scripts(spec, output, tasks, workloads, plan);
    return code_of_cells();
  }
  const Execution done = execute(spec, workloads, sessions,
                                 {.stop = stop.token(),
                                  .create_folders = flags.default_db,
                                  .notes = notes_of(group.get()),
                                  .group = group.get()});
  if (follows) return stop.signal() ? 128 + stop.signal() : 0;
  if (done.stopped) return stopped(done, spec, stop);
  const Snapshot snapshot(done.store->database());
  const Measurements measured = measurements_of(*done.store, done.invocation);
  const Comparison comparison = compare(*done.store, done.invocation, {}, measured);
  Table table = output.matrix ? matrix_table(comparison)
                              : choose_columns(comparison_table(comparison), output.columns);
  // the best cells replace the conclusion; they compare pairs of arms by time
  table.conclusion.clear();
  const std::vector<BestCell> best = best_cells(measured, comparison);
  for (const std::string& dataset : spec.datasets) {
    const auto cell = std::find_if(best.begin(), best.end(),
                                   [&](const BestCell& one) { return one.dataset == dataset; });
    table.conclusion.push_back(
        cell == best.end() ? str("best cell of ", dataset,
                                 ": none; no cell has answers that are shown not to be worse.")
                           : best_note(spec, comparison, *cell));
  }
  print_table(table, format);
  std::fprintf(stderr, "database: %s\n", spec.db.c_str());
  if (const int code = exit_code(done.counts, output.fail_on_error)) return code;
  if (code_of_cells())
    std::fprintf(stderr, "pardec: %zu of %zu cells cannot be run; the table says why\n",
                 spec.refused.size(), spec.refused.size() + spec.arms.size());
  return code_of_cells() ? code_of_cells() : exit_code(comparison, output.strict);
}

}  // namespace

Verb sweep_verb() {
  return {
      "sweep",
      "run all combinations of some settings, and compare them",
      "pardec sweep --model DIR --decoder ar,hpd --grid hpd.k_max=8,16,30 --grid batch_size=1,4 "
      "--dataset oa-mine --db s.sqlite --dry-run\n"
      "  pardec sweep --model DIR --decoder ar,hpd --grid hpd.stack=1,2,6 --dataset oa-mine "
      "--db s.sqlite --target-ci 2%\n"
      "  pardec sweep -c FILE --model DIR --memory-limit 4G --shard 0/2 --db shard-0.sqlite\n"
      "  pardec plot --db s.sqlite --x hpd.stack --y speedup -o stack.svg",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RunFlags>();
        flags->settings.sweep = true;
        add_flags(app, *flags);
        return [flags, &app] { return sweep(app, *flags); };
      },
      {},
      {.files = {"--trace", "--slurm"}},
      {},
      /*several_processes=*/true};
}

}  // namespace pardec
