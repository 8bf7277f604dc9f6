// `pardec run`: datasets x arms, each on its network -> store, and the table that compares them.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/dry_run.hpp"
#include "src/cli/run_flags.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/report/comparison_table.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/runner.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"
#include "src/tasks/conversation.hpp"

namespace pardec {

namespace {

/// What a reader of the run should know before it begins.
void print_notes(const RunSpec& spec, const std::vector<Workload>& workloads,
                 const std::vector<RunCell>& cells) {
  for (const Workload& work : workloads)
    if (work.dataset.sample)
      std::fprintf(stderr,
                   "%s: no --data-root, so the project's own sample of %zu examples is used\n",
                   work.dataset.name.c_str(), work.dataset.examples.size());
  for (const Workload& work : workloads)
    for (size_t a = 0; a < spec.arms.size(); ++a)
      if (!work.runs(a))
        std::fprintf(stderr, "%s, %s: n/a: it %s\n", work.dataset.name.c_str(),
                     visible_text(spec.arms[a].label).c_str(), work.not_applicable[a].c_str());
  std::set<std::string> said;
  const bool several = several_networks(spec);
  const auto say = [&](const std::string& who, const std::string& note) {
    if (!note.empty() && said.insert(who + note).second)
      std::fprintf(stderr, "%s: %s\n", who.c_str(), note.c_str());
  };
  for (const RunCell& cell : cells)
    say(several ? "model " + networks_of(spec, *cell.arm).model : "model", cell.note);
  for (const RunCell& cell : cells)
    say(cell.work->dataset.name + (several ? ", " + visible_text(cell.arm->label) : ""),
        cell.row.config.value("taught_otherwise", ""));
}

/// 3 where a larger share of the answers failed than may; says so.
int exit_code(const RunCounts& counts, double fail_on_error) {
  if (counts.failed_share() <= fail_on_error) return 0;
  std::fprintf(stderr,
               "pardec: %lld of %lld answers failed; their rows of table generation hold the "
               "reason in column error\n",
               static_cast<long long>(counts.failed), static_cast<long long>(counts.finished));
  return 3;
}

int run(CLI::App& app, RunFlags& flags) {
  complete(app, flags);
  RunSpec& spec = flags.spec;
  check_draft_flag(spec.model, std::any_of(spec.arms.begin(), spec.arms.end(), [](const Arm& arm) {
                     return arm.algorithm->drafts_with_model() && arm.draft_model.empty();
                   }));
  const std::vector<Workload> workloads = load_workloads(spec);
  if (!flags.dry_run) check_any_runs(spec, workloads);
  const std::vector<ModelOptions> networks = networks_of(spec);
  const bool all_there = std::all_of(networks.begin(), networks.end(), [](const auto& options) {
    return read_face(options.model).has_value();
  });
  const std::optional<MemoryPlan> memory =
      all_there ? std::optional(plan_memory(networks, spec.cache.block_rows,
                                            /*together=*/spec.order != "blocked"))
                : std::nullopt;
  if (memory) apply_limit(*memory, spec.model, spec.cache);
  if (flags.dry_run) {
    print_plan(spec, workloads, memory, parse_table_format(flags.format));
    return 0;
  }
  const bool limited = memory && memory->limit > 0;
  if (limited) std::fprintf(stderr, "memory: %s\n", describe(*memory, spec.cache).c_str());

  const SignalStop stop;
  // A new database is made when all that may fail before a run begins is done, so that none is left
  // behind, and none has to be removed in which another process may have begun one.
  const OpenOptions options{.create_folders = app.get_option("--db")->count() == 0};
  std::optional<Store> store;
  if (Store::exists(spec.db, options))
    store.emplace(spec.db, options);
  else if (spec.resume)
    throw ConfigError(
        str("--resume: ", spec.db, " does not exist; leave --resume out to begin a run"));
  else if (spec.oracle.kind == "recorded")
    throw ConfigError(str("--oracle ", spec.oracle.text, ": ", spec.db,
                          " does not exist; expected the database that holds the recorded run"));
  ArmSessions sessions(spec);
  std::vector<RunCell> cells = make_cells(spec, workloads, sessions);
  if (const int signal = stop.signal()) return 128 + signal;  // nothing has begun
  check_trace(spec);
  if (!store) store.emplace(spec.db, options);
  prepare(spec, workloads, sessions, *store, cells);
  Recorder recorder(spec, workloads, *store, cells);
  print_notes(spec, workloads, cells);

  const RunCounts counts = run_cells(spec, workloads, sessions, cells, recorder, stop.token());
  store->check_place();
  if (counts.turns_off > 0)
    std::fprintf(stderr, "%s\n", describe_turns_off(counts.turns_off).c_str());
  if (const int signal = stop.signal()) {
    std::fprintf(
        stderr,
        "stopped; everything that was done is in %s, go on with the same command and --resume\n",
        spec.db.c_str());
    return 128 + signal;
  }
  const Comparison comparison =
      compare(*store, cells.front().row.invocation, {.baseline = spec.baseline});
  std::cout << render(flags.matrix ? matrix_table(comparison) : comparison_table(comparison),
                      parse_table_format(flags.format));
  if (limited && spec.model.device == "cpu")
    std::fprintf(stderr, "memory: %s\n", describe_peak().c_str());
  std::fprintf(stderr, "database: %s\n", spec.db.c_str());
  const int code = exit_code(counts, flags.fail_on_error);
  return code ? code : exit_code(comparison, flags.strict);
}

}  // namespace

Verb run_verb() {
  return {
      "run", "run datasets through decoders and compare them",
      "pardec run --model DIR --decoder ar,hpd --dataset oa-mine,ae-110k --data-root data --db "
      "r.sqlite\n"
      "  pardec run --model DIR --arm ar=ar,batch_size=16 --arm hpd8=hpd,k_max=8 --dataset oa-mine "
      "--limit 60\n"
      "  pardec run -c experiments/speed/hpd.json --model DIR --dry-run",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RunFlags>();
        add_flags(app, *flags);
        return [flags, &app] { return run(app, *flags); };
      }};
}

}  // namespace pardec
