// `pardec run`: runs datasets x arms, each on its network, stores the results, and prints a
// comparison.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>

#include "src/asking/paid_service.hpp"
#include "src/chat/service.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/memory_plan.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/dry_run.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/run_end.hpp"
#include "src/cli/run_flags.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/tensor_ranks.hpp"
#include "src/cli/unread_notes.hpp"
#include "src/cli/with_flags.hpp"
#include "src/findings/roofline.hpp"
#include "src/report/comparison_table.hpp"
#include "src/runs/arms.hpp"
#include "src/scoring/ask_judge.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

namespace {

/// The service of --judge, read before the run. ConfigError: no dataset needs a judge.
std::optional<chat::ServiceSpec> judge_of(const RunFlags& flags,
                                          const std::vector<Workload>& workloads) {
  if (flags.settings.output.judge.empty()) return std::nullopt;
  if (forced_arm(flags.spec.arms))
    throw ConfigError(
        "--judge with --oracle: forced answers carry no score; leave one of them out");
  if (std::none_of(workloads.begin(), workloads.end(), [](const Workload& work) {
        return !protocol_for(stored_dataset(work.dataset.name)).empty();
      })) {
    std::vector<std::string> names;
    for (const DatasetEntry& entry : datasets())
      if (!protocol_for(entry).empty()) names.emplace_back(entry.name);
    throw ConfigError(str("--judge: no dataset here has a metric that needs a judge, as ",
                          join(names, ", "), " have; leave it out, or use pardec judge after it"));
  }
  chat::ServiceSpec service = chat::read_service(flags.settings.output.judge);
  if (!flags.settings.output.dry_run) check_service(service, print_note);
  return service;
}

int run(CLI::App& app, RunFlags& flags) {
  complete(app, flags);
  RunSpec& spec = flags.spec;
  const OutputSettings& output = flags.settings.output;
  const auto ranks = join_tensor_ranks(spec.model);
  if (ranks && !ranks->leads()) return follow_rank_0(*ranks, spec.model);
  check_draft_flag(spec.model, std::any_of(spec.arms.begin(), spec.arms.end(), [](const Arm& arm) {
                     return arm.algorithm->drafts_with_model() && arm.draft_model.empty();
                   }));
  const std::vector<Workload> workloads = load_workloads(spec);
  if (!output.dry_run) check_any_runs(spec, workloads);
  const auto service = judge_of(flags, workloads);
  std::vector<ModelOptions> networks = networks_of(spec);
  std::erase_if(networks, [](const ModelOptions& options) { return !options.weights; });
  const bool all_there =
      !networks.empty() && std::all_of(networks.begin(), networks.end(), [](const auto& options) {
        return read_face(options.model).has_value();
      });
  const std::optional<MemoryPlan> memory =
      all_there ? std::optional(plan_memory(networks, spec.cache.block_rows,
                                            /*together=*/spec.order != "blocked"))
                : std::nullopt;
  if (memory) apply_limit(*memory, spec.model, spec.cache);
  check_hardware(output.hardware, spec.trace);
  for (const std::string& which : output.hardware)
    if (all_there && which != "here")
      for (const ModelOptions& options : networks)
        read_hardware(which, chosen_dtype(options));  // reports errors before the run
  const SignalStop stop;
  const auto group = ranks ? nullptr : join_group(spec.progress);
  const bool follows = group && group->rank() > 0;
  if (output.dry_run) {
    if (!follows) print_plan(spec, workloads, memory, parse_table_format(output.format));
    return 0;
  }
  const Notes notes = notes_of(group.get());
  const bool limited = memory && memory->limit > 0;
  if (limited) tell(notes, "memory: " + describe(*memory, spec.cache));
  for (const std::string& note : unread_notes(workloads)) tell(notes, visible_text(note));

  ArmSessions sessions(spec);
  const Execution done = execute(spec, workloads, sessions,
                                 {.stop = stop.token(),
                                  .create_folders = flags.default_db,
                                  .notes = notes,
                                  .group = group.get()});
  if (follows) return stop.signal() ? 128 + stop.signal() : 0;
  if (done.stopped) return stopped(done, spec, stop);
  std::int64_t unjudged = 0;
  std::exception_ptr judge_failed;  // the results of the run are shown even if judging fails
  if (service) {
    try {
      unjudged = judge_run(*done.store, done.invocation, *service,
                           {.progress = spec.progress, .stop = stop.token(), .notes = print_note})
                     .failed;
    } catch (const Error&) {
      judge_failed = std::current_exception();
    }
    if (stop.signal()) {
      std::fprintf(stderr, "stopped; all verdicts so far are in %s; pardec judge continues\n",
                   spec.db.c_str());
      return 128 + stop.signal();
    }
  }
  CompareOptions options{.baseline = spec.baseline, .hardware = output.hardware};
  if (!options.hardware.empty() && !spec.trace.empty()) options.traced = read_works(spec.trace);
  const Snapshot snapshot(done.store->database());  // others may be judging or scoring it by now
  const Comparison comparison = compare(*done.store, done.invocation, options);
  print_table(output.matrix ? matrix_table(comparison)
                            : choose_columns(comparison_table(comparison), output.columns),
              parse_table_format(output.format));
  if (limited && spec.model.device == "cpu")
    std::fprintf(stderr, "memory: %s\n", describe_peak().c_str());
  std::fprintf(stderr, "database: %s\n", spec.db.c_str());
  if (judge_failed) {
    std::fprintf(stderr,
                 "the run is done and stored; 'pardec judge' asks for the missing verdicts\n");
    std::rethrow_exception(judge_failed);
  }
  const int code = exit_code(done.counts, output.fail_on_error);
  if (unjudged > 0 && !code) return 3;
  return code ? code : exit_code(comparison, output.strict);
}

}  // namespace

Verb run_verb() {
  return {
      "run",
      "answer datasets with several decoders, and compare speed and answers",
      "pardec run --model DIR --decoder ar,hpd --dataset oa-mine,ae-110k --data-root data --db "
      "r.sqlite\n"
      "  pardec run --model DIR --arm ar=ar,batch_size=16 --arm hpd8=hpd,k_max=8 --dataset oa-mine "
      "--limit 60\n"
      "  pardec run -c experiments/speed/hpd.json --model DIR --dry-run",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RunFlags>();
        add_flags(app, *flags);
        return [flags, &app] { return run(app, *flags); };
      },
      {},
      {.files = {"--trace"}},
      {},
      /*several_processes=*/true};
}

}  // namespace pardec
