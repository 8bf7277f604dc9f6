// `pardec run`: datasets x arms x one network -> store, and the table that compares them.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "src/cli/command_line.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/experiment.hpp"
#include "src/cli/memory_plan.hpp"
#include "src/cli/run_flags.hpp"
#include "src/cli/run_plan.hpp"
#include "src/support/error.hpp"

namespace pardec {

namespace {

int run(CLI::App& app, RunFlags& flags) {
  if (!flags.config.empty()) read_experiment(app, flags);
  flags.db_is_default = app.get_option("--db")->count() == 0;
  flags.argv = command_arguments(app);
  check(flags);
  parse_shard(flags.shard);
  parse_progress_style(flags.progress);
  parse_oracle(flags.oracle);
  const TableFormat format = parse_table_format(flags.format);
  flags.decode.sampling();
  check_chat_template(flags.decode.chat_template, flags.decode.chat_set);
  const std::vector<Arm> arms = make_arms(flags.decoders, flags.arms, flags.sets, flags.batch_size);
  std::vector<std::unique_ptr<Decoder>> decoders;
  for (const auto& arm : arms) decoders.push_back(make_decoder(arm.decoder, arm.options));
  for (size_t a = 0; a < arms.size(); ++a) baseline_of(arms, a, flags.baseline);
  check_oracle(parse_oracle(flags.oracle), arms, decoders);
  const bool drafts = std::any_of(decoders.begin(), decoders.end(),
                                  [](const auto& decoder) { return decoder->drafts_with_model(); });
  check_draft_flag(flags.model, drafts);
  const std::vector<Workload> workloads = load_workloads(flags, arms, decoders);
  const std::optional<MemoryPlan> memory =
      read_face(flags.model.model) ? std::optional(plan_memory(flags.model, flags.cache.block_rows))
                                   : std::nullopt;
  if (memory) apply_limit(*memory, flags.model, flags.cache);
  if (flags.dry_run) {
    print_plan(flags, arms, decoders, workloads, memory);
    return 0;
  }

  if (memory && memory->limit > 0)
    std::fprintf(stderr, "memory: %s\n", describe(*memory, flags.cache).c_str());
  // A new database is made when all that may fail before a run begins is done, so that none is left
  // behind, and none has to be removed in which another process may have begun one.
  const OpenOptions options{.create_folders = flags.db_is_default};
  std::optional<Store> store;
  if (Store::exists(flags.db, options))
    store.emplace(flags.db, options);
  else if (flags.resume)
    throw ConfigError(
        str("--resume: ", flags.db, " does not exist; leave --resume out to begin a run"));
  else if (parse_oracle(flags.oracle).kind == "recorded")
    throw ConfigError(str("--oracle ", flags.oracle, ": ", flags.db,
                          " does not exist; expected the database that holds the recorded run"));
  ChatTemplate chat =
      template_for(flags.decode.chat_template, flags.model.model, flags.decode.chat_set);
  Checkpoint checkpoint = load_checkpoint(flags.model, true);
  std::optional<Checkpoint> draft = load_draft(flags.model, checkpoint, drafts);
  Experiment experiment(flags, arms, decoders, workloads, checkpoint, draft ? &*draft : nullptr,
                        std::move(chat));
  if (!store) {
    check_trace(flags);
    store.emplace(flags.db, options);
  }
  experiment.begin(*store);
  for (const auto& work : workloads)
    if (work.dataset.sample)
      std::fprintf(stderr,
                   "%s: no --data-root, so the project's own sample of %zu examples is used\n",
                   work.dataset.name.c_str(), work.dataset.examples.size());
  for (const auto& work : workloads)
    for (size_t a = 0; a < arms.size(); ++a)
      if (!work.runs(a))
        std::fprintf(stderr, "%s, %s: n/a: it %s\n", work.dataset.name.c_str(),
                     visible_text(arms[a].label).c_str(), work.not_applicable[a].c_str());
  if (!checkpoint.note.empty()) std::fprintf(stderr, "model: %s\n", checkpoint.note.c_str());
  for (const auto& work : workloads)
    if (const std::string note = experiment.taught_otherwise(work); !note.empty())
      std::fprintf(stderr, "%s: %s\n", work.dataset.name.c_str(), note.c_str());
  experiment.run();
  store->check_place();
  if (experiment.turns_off() > 0)
    std::fprintf(stderr, "%s\n", describe_turns_off(experiment.turns_off()).c_str());
  if (const int signal = Experiment::stopped_by()) {
    std::fprintf(
        stderr,
        "stopped; everything that was done is in %s, go on with the same command and --resume\n",
        flags.db.c_str());
    return 128 + signal;
  }
  const auto table = flags.matrix ? matrix_of_runs : compare_runs;
  std::cout << render(table(*store, experiment.invocation(), flags.baseline, 0.95), format);
  if (memory && memory->limit > 0 && flags.model.device == "cpu")
    std::fprintf(stderr, "memory: %s\n", describe_peak().c_str());
  std::fprintf(stderr, "database: %s\n", flags.db.c_str());
  const double failed_share = experiment.finished() ? static_cast<double>(experiment.failed()) /
                                                          static_cast<double>(experiment.finished())
                                                    : 0;
  if (failed_share > flags.fail_on_error) {
    std::fprintf(stderr,
                 "pardec: %lld of %lld answers failed; their rows of table generation hold the "
                 "reason in column error\n",
                 static_cast<long long>(experiment.failed()),
                 static_cast<long long>(experiment.finished()));
    return 3;
  }
  return 0;
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
        app.add_option("--decoder", flags->decoders,
                       "decoders, each an arm of that name, e.g. ar,hpd")
            ->delimiter(',')
            ->type_name("A,B");
        app.add_option("--arm", flags->arms, "an arm of its own label and options; repeatable")
            ->type_name("LABEL=NAME[,OPTION=VALUE...]");
        app.add_option("--set", flags->sets,
                       "an option for all arms of a decoder, e.g. hpd.k_max=30; repeatable")
            ->type_name("KEY=VALUE");
        app.add_option("--dataset", flags->datasets, "datasets ('pardec list datasets')")
            ->delimiter(',')
            ->type_name("A,B");
        app.add_option(
               "--data-root", flags->data_root,
               "folder with one folder a dataset; without it the project's samples are used")
            ->type_name("DIR");
        app.add_option("--split", flags->split,
                       "train, test, ...; without it the one that each dataset is evaluated on")
            ->type_name("NAME");
        app.add_option("--limit", flags->limit,
                       "a seeded sample of N examples spread over categories; 0: all")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--offset", flags->offset, "skip N of that sample's order")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--shots", flags->shots,
                       "worked examples of split train in prompts that ask field by field; without "
                       "it as many as the dataset's protocol has")
            ->type_name("N");
        app.add_flag("--unseen", flags->unseen,
                     "leave out examples whose text is also in the train split");
        app.add_option(
               "--batch-size", flags->batch_size,
               "jobs in flight (an arm's own: batch_size in --arm); a job has the examples "
               "that the decoder stacks: one context and its questions for ar "
               "ask=separately, 6 of them for ippd; the table's streams are the answers that "
               "this comes to")
            ->capture_default_str()
            ->type_name("N");
        app.add_option(
               "--block", flags->block,
               "examples that one arm does before the next one's turn; 0: so many that "
               "every arm's batch is full during three quarters of its jobs, or all, and as many "
               "blocks as there are shards")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--cache-blocks", flags->cache.blocks,
                       "blocks of 16 rows of KV cache that jobs in flight may hold; 0: no limit")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--cache-watermark", flags->cache.watermark,
                       "share of them left free where one more job is taken in")
            ->capture_default_str()
            ->type_name("X");
        app.add_option("--warmup", flags->warmup, "unrecorded jobs an arm before the first")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--runs", flags->runs, "repeats of everything")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--order", flags->order,
                       "interleaved (arms alternate block by block) or blocked")
            ->capture_default_str()
            ->type_name("ORDER");
        app.add_option("--baseline", flags->baseline,
                       "label of the arm that the others are compared with")
            ->type_name("LABEL");
        app.add_option(
               "--oracle", flags->oracle,
               "force what is chosen, to measure speed with an untrained network: references "
               "(the reference answers), recorded:RUN (what a stored run chose) or accept:A (a "
               "share A of drafted tokens)")
            ->type_name("KIND");
        app.add_option("--db", flags->db, "database")->capture_default_str()->type_name("FILE");
        app.add_flag("--resume", flags->resume, "go on where the newest run of these arms stopped");
        app.add_flag("--retry-errors", flags->retry_errors,
                     "with --resume: also repeat jobs that failed");
        app.add_flag(
            "--dry-run", flags->dry_run,
            "print what would be done: blocks, how full batches are, jobs that overflow the "
            "network's context");
        app.add_option("--shard", flags->shard, "do every N-th block only, beginning with I")
            ->type_name("I/N");
        app.add_option("--fail-on-error", flags->fail_on_error,
                       "exit code 3 when a larger share of answers failed")
            ->capture_default_str()
            ->type_name("X");
        app.add_option("--trace", flags->trace, "write what every fed token saw and chose (slow)")
            ->type_name("FILE");
        app.add_option("--format", flags->format,
                       "of the table: md, csv, csv-safe, json, jsonl or latex")
            ->capture_default_str()
            ->type_name("FORMAT");
        app.add_flag("--matrix", flags->matrix,
                     "the table with one row an arm and one column a dataset");
        app.add_option("--progress", flags->progress, "auto, bar, plain or none")
            ->capture_default_str()
            ->type_name("STYLE");
        app.add_option("-c,--config", flags->config, "an experiment file (experiments/*.json)")
            ->type_name("FILE");
        flags->model.add_to(app);
        flags->decode.add_to(app);
        return [flags, &app] { return run(app, *flags); };
      }};
}

}  // namespace pardec
