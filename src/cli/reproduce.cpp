// `pardec reproduce`: tables and figures of papers with the numbers measured here, and a verdict on
// each claim.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "src/asking/paid_service.hpp"
#include "src/chat/service.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/run_end.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/cli/slurm_scripts.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/with_flags.hpp"
#include "src/report/reproduction_report.hpp"
#include "src/report/results_page.hpp"
#include "src/reproduction/item_choice.hpp"
#include "src/reproduction/rehearsal.hpp"
#include "src/reproduction/time_shares.hpp"
#include "src/reproduction/weights.hpp"
#include "src/runs/run_spec.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/launch.hpp"
#include "src/support/number_text.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct ReproduceFlags {
  ReproduceOptions options;
  std::string paper, item, budget, judge, progress = "auto", format = "text", report, results;
  std::string shard, slurm;
  std::optional<int> slurm_tasks;
  std::vector<std::string> models, services;
  bool train = false, dry_run = false;
};

/// "10m", "90s", "1.5h" or seconds. ConfigError: another text.
std::optional<double> parse_budget(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::map<char, double> units{{'s', 1}, {'m', 60}, {'h', 3600}};
  const auto unit = units.find(text.back());
  const std::string number = unit == units.end() ? text : text.substr(0, text.size() - 1);
  const Json value = Json::parse(number, nullptr, false);
  if (!value.is_number() || value < 0)
    throw ConfigError(str("--budget is '", text, "', expected a time such as 90s, 10m or 1.5h"));
  return value.get<double>() * (unit == units.end() ? 1 : unit->second);
}

/// "LABEL=VALUE" in two. ConfigError.
std::pair<std::string, std::string> labelled(const char* flag, const std::string& text,
                                             const char* value) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(str(flag, " is '", text, "', expected LABEL=", value));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// The export from which a page of results is made: RESULTS.json beside RESULTS.md.
std::filesystem::path export_beside(const std::filesystem::path& page) {
  return std::filesystem::path(page).replace_extension(".json");
}

/// Trains what the claims lack. Ctrl-C ends the program here, as it ends `train`: the training goes
/// on from its last checkpoint.
TrainedNetworks train_first(const std::vector<const PaperItem*>& items,
                            const ReproduceFlags& flags) {
  const std::vector<WantedNetwork> wanted = wanted_networks(items, flags.options);
  if (wanted.empty())
    print_note("--train: the claims lack no network that a recipe makes");
  else
    print_note(str("--train: ", counted(std::ssize(wanted), "network"), ", about ",
                   duration(static_cast<std::int64_t>(minutes_of(wanted) * 60)),
                   " of one core by the recipes"));
  return train_networks(wanted, parse_budget(flags.budget), flags.options);
}

/// Writes the scripts of `slurm` with `tasks`, and prints how to submit them. ConfigError: the
/// flags fit no array.
void write_slurm_scripts(const ReproduceFlags& flags, int tasks) {
  const ReproduceOptions& options = flags.options;
  const std::optional<double> budget = parse_budget(flags.budget);
  if (!budget || *budget <= 0)
    throw ConfigError("--slurm needs --budget, the time of each task, above 0");
  if (flags.train) throw ConfigError("--slurm: the tasks train no networks; train them before it");
  if (flags.dry_run)
    throw ConfigError("--slurm: each task would make a dry run; leave --dry-run out");
  if (!flags.shard.empty()) throw ConfigError("--slurm divides the runs itself; leave --shard out");
  const std::vector<std::string> arguments =
      without({options.argv.begin() + 1, options.argv.end()}, {"--slurm", "--slurm-tasks", "--db"});
  SlurmArray array{
      .verb = "reproduce",
      .program = program_file().string(),
      .arguments = without(arguments, {"--report", "--results", "--judge"}),
      .shown_by = without(arguments, {"--budget"}),
      .folder = std::filesystem::current_path(),
      .script = flags.slurm,
      .db = options.db,
      .tasks = tasks,
      .threads = options.threads > 0 ? options.threads
                                     : static_cast<int>(std::thread::hardware_concurrency()),
      .gpu = !options.device.empty() && options.device != "cpu",
      .task_seconds = *budget,
      .about = {str("Each task makes every ", tasks, "th run of the items, in a budget of ",
                    flags.budget, "."),
                "Slurm's limit of memory: add #SBATCH --mem for the largest network."}};
  array.shown_by.insert(array.shown_by.end(), {"--budget", "0"});
  write_scripts(array);
}

/// Only says what would be trained, or makes dry runs.
int show_plan(const std::vector<const PaperItem*>& items, const ReproduceFlags& flags) {
  TablePrinter printer(parse_table_format(flags.format), /*list=*/true);
  if (flags.train) {
    printer.print(weights_table(wanted_networks(items, flags.options)));
    printer.finish();
    return 0;
  }
  const SignalStop stop;
  ReproduceOptions options = flags.options;
  options.stop = stop.token();
  options.notes = {};  // a dry run's own would speak of its small networks
  Rehearsals rehearsals;
  for (const PaperItem* item : items) {
    if (items.size() > 1 && !item->scales.contains(options.scale)) continue;
    const Rehearsal made = rehearsals.of(*item, options);
    if (const int signal = stop.signal()) return 128 + signal;
    printer.print(rehearsal_table(made));
  }
  printer.finish();
  return 0;
}

int reproduce_items(const PaperCatalogue& papers, const std::vector<const PaperItem*>& items,
                    const ReproduceFlags& flags) {
  ReproduceOptions options = flags.options;
  const auto group = join_group(options.progress);
  if (group && flags.train)
    throw ConfigError("--train cannot be shared by several processes; train in one process first");
  TrainedNetworks trained;
  if (flags.train) trained = train_first(items, flags);
  const SignalStop stop;  // from here on a signal ends no training
  options.stop = stop.token();
  options.notes = notes_of(group.get());
  options.group = group.get();
  if (group && group->rank() > 0) {
    follow_reproductions(papers, options);
    return stop.signal() ? 128 + stop.signal() : 0;
  }
  TablePrinter printer(parse_table_format(flags.format), /*list=*/true);
  options.errors_lack = items.size() > 1;
  TimeShares time(parse_budget(flags.budget), items, options, trained.seconds);
  std::vector<ReproducedItem> shown_items;
  ReproductionReport report;
  const auto of_scale = std::count_if(items.begin(), items.end(), [&](const PaperItem* item) {
    return item->scales.contains(options.scale);
  });
  size_t begun = 0;
  bool unexpected = false, judge_failed = false;
  MadeBounds bounds;
  for (const PaperItem* one : items) {
    const PaperItem& item = *one;
    if (!item.scales.contains(options.scale)) {
      if (items.size() > 1) continue;
      if (!item.scales.empty()) item.scale(options.scale);  // throws an error that lists the scales
      shown_items.push_back(
          {&item,
           published_table(item, "", NoEvidence({}),
                           {{std::nullopt, str("not measured here, for lack of: ", item.lacks)}}),
           {}});
      printer.print(shown_items.back().table);
      continue;
    }
    options.effort = time.effort_of(item);
    std::fprintf(stderr, "%s, scale %s (%zu of %td, %s gone%s)\n", item.name.c_str(),
                 options.scale.c_str(), ++begun, of_scale,
                 duration(static_cast<std::int64_t>(time.used())).c_str(),
                 flags.budget.empty() ? "" : str(" of ", flags.budget).c_str());
    const Reproduction result = reproduce(item, options, bounds);
    judge_failed = judge_failed || result.judge_failed;
    time.take(result, bounds);
    if (const int signal = stop.signal()) {
      if (group) end_reproductions(*group);
      printer.finish();
      std::fprintf(stderr, "stopped; the same command %s\n",
                   options.scale == "bound" ? "begins again" : "continues");
      return 128 + signal;
    }
    shown_items.push_back(
        reproduced_item(result, items.size() > 1, /*with_figures=*/!flags.report.empty()));
    printer.print(shown_items.back().table);
    for (const ClaimFinding& finding : result.findings)
      unexpected = unexpected || finding.unexpected();
    if (!flags.report.empty() && result.run) report.add_run(result.run->comparison());
  }
  if (group) end_reproductions(*group);
  if (std::any_of(shown_items.begin(), shown_items.end(),
                  [](const ReproducedItem& item) { return !item.findings.empty(); }))
    printer.print(claims_table(shown_items, "Claims"));
  printer.finish();
  if (!flags.report.empty()) {
    write_file(flags.report, render_report(std::move(report).of(shown_items), with_flags));
    std::fprintf(stderr, "%s\n", flags.report.c_str());
  }
  if (!flags.results.empty()) {
    std::string command = "pardec";
    for (std::size_t i = 1; i < options.argv.size(); ++i) command += " " + options.argv[i];
    const ResultsPage page = results_page(shown_items, command, with_flags);
    write_file(export_beside(flags.results), json_of(page).dump(1) + "\n");
    write_file(flags.results, render_results(page));
    std::fprintf(stderr, "%s\n", flags.results.c_str());
  }
  if (unexpected)
    std::fprintf(stderr, "pardec: a claim is decided otherwise than expected (marked by !)\n");
  if (judge_failed) std::fprintf(stderr, "pardec: the judge was not asked all open questions\n");
  if (trained.stopped > 0)
    std::fprintf(stderr, "pardec: %s not trained to the end; the same command continues\n",
                 counted(trained.stopped, "network").c_str());
  if (trained.refused > 0)
    std::fprintf(stderr, "pardec: %s not trained, for the reasons above\n",
                 counted(trained.refused, "network").c_str());
  return unexpected ? 4 : judge_failed || trained.refused > 0 ? 1 : 0;
}

int run(const CLI::App& app, ReproduceFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (!flags.results.empty() && !flags.results.ends_with(".md"))
    throw ConfigError(str("--results is '", flags.results, "', expected the name of a page, *.md"));
  ReproduceOptions& options = flags.options;
  if (options.limit) check_at_least("limit", *options.limit, 0);
  check_at_least("threads", options.threads, 0);
  if (!flags.judge.empty()) {  // errors in the service file are reported before running
    options.judge = chat::read_service(flags.judge);
    check_service(*options.judge, print_note);
  }
  for (const std::string& model : flags.models) {
    const auto [label, folder] = labelled("--model", model, "DIR");
    options.models.push_back({label, checkpoint_path(folder)});
  }
  for (const std::string& service : flags.services) {
    const auto [label, file] = labelled("--service", service, "FILE");
    check_service(chat::read_service(file), print_note);
    options.services.push_back({label, file});
  }
  options.argv = command_arguments(app);
  options.create_folders = app.get_option("--db")->count() == 0;
  options.notes = print_note;
  const PaperCatalogue papers = read_papers();
  if (flags.paper.empty() || flags.paper == "list") {
    if (!flags.item.empty())
      throw ConfigError(str("reproduce list takes no item, found '", flags.item, "'"));
    if (launch().rank == 0)
      print_table(papers_table(papers, stored_verdicts(papers, options.db)), format);
    return 0;
  }
  std::vector<const PaperItem*> items = chosen_items(papers, flags.paper, flags.item);
  check_labels(items, options);
  if (!flags.shard.empty()) items = items_of_shard(items, options.scale, parse_shard(flags.shard));
  if (!options.data_root.empty() && !std::filesystem::is_directory(options.data_root))
    throw ConfigError(str("--data-root: ", options.data_root, " is no folder"));
  if (!options.dtype.empty() && options.dtype != "auto") parse_dtype(options.dtype);
  options.progress = parse_progress_style(flags.progress);
  parse_budget(flags.budget);
  const int tasks = checked_slurm_tasks(flags.slurm, flags.slurm_tasks);
  if (!flags.slurm.empty()) {
    write_slurm_scripts(flags, tasks);
    return 0;
  }
  if (!flags.dry_run) return reproduce_items(papers, items, flags);
  return launch().rank == 0 ? show_plan(items, flags) : 0;
}

}  // namespace

Verb reproduce_verb() {
  return {
      "reproduce",
      "measure the tables of papers: published numbers next to yours, and a verdict on each claim",
      "pardec reproduce list\n  pardec reproduce hpd table1\n  pardec reproduce ippd table5 "
      "--data-root data --model main=DIR --db r.sqlite\n  pardec reproduce all --budget 60m\n  "
      "pardec reproduce all --budget 1h --slurm papers.sbatch --slurm-tasks 6\n  "
      "pardec reproduce all --train --dry-run\n  pardec reproduce space table2 --scale bound",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<ReproduceFlags>();
        ReproduceOptions& options = flags->options;
        app.add_option("paper", flags->paper,
                       "hpd, ippd, apar, aspd or space; all: all of them; list: what there is");
        app.add_option("item", flags->item,
                       "table or figure of the paper, e.g. table5 or figure4; without it all");
        app.add_option("--scale", options.scale,
                       "small: networks and data at hand; paper: the paper's own networks and "
                       "settings; shape: forced answers on any network; bound: what GPUs allow, by "
                       "the roofline")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_option("--budget", flags->budget,
                       "time limit, e.g. 10m; fewer examples are then run, and claims that need "
                       "more stay open; 0: only the verdicts on what the database holds")
            ->type_name("TIME");
        app.add_option("--limit", options.limit,
                       "number of examples of each dataset, instead of that in the item's file")
            ->type_name("N");
        app.add_option("--model", flags->models,
                       "a network instead of that in the item's file, e.g. main=DIR; repeatable")
            ->type_name("LABEL=DIR");
        app.add_option(
               "--service", flags->services,
               "the service that answers an arm of the scale, as a file that `judge` takes; "
               "repeatable")
            ->type_name("LABEL=FILE");
        app.add_option("--data-root", options.data_root,
                       "folder with the published datasets, one subfolder each; default: the "
                       "project's small samples")
            ->type_name("DIR");
        app.add_flag("--train", flags->train,
                     "first train the networks that claims lack and that have a recipe, within the "
                     "budget; the same command continues a stopped training");
        app.add_flag(
            "--dry-run", flags->dry_run,
            "two examples on small networks of the same families, with forced answers; with "
            "--train only list what would be trained, from which data, and how long");
        app.add_option("--device", options.device,
                       "device, instead of that in the item's file: cpu, cuda or cuda:I")
            ->type_name("DEVICE");
        app.add_option("--dtype", options.dtype,
                       "number type, instead of that in the item's file: fp32, bf16, auto ...")
            ->type_name("TYPE");
        app.add_option("--threads", options.threads, "CPU threads; 0: all cores")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--db", options.db, "database; what it holds already is not run again")
            ->capture_default_str()
            ->type_name("FILE");
        app.add_option("--shard", flags->shard,
                       "make only every N-th run of the items, beginning with run I (from 0), in a "
                       "database of its own; 'merge' joins the databases")
            ->type_name("I/N");
        app.add_option("--slurm", flags->slurm,
                       "write a script for a job array of Slurm, which makes the runs, and one for "
                       "the job that merges them (FILE.merge.sbatch); print how to submit them")
            ->type_name("FILE.sbatch");
        app.add_option("--slurm-tasks", flags->slurm_tasks,
                       "with --slurm: number of tasks, each with the whole of --budget; default: 8")
            ->type_name("N");
        add_format(app, flags->format);
        app.add_option("--report", flags->report,
                       "also write a page for a browser: verdicts, tables and figures")
            ->type_name("FILE");
        app.add_option("--results", flags->results,
                       "also write a page of all verdicts, refuted ones first, and its export "
                       "beside it: RESULTS.md and RESULTS.json")
            ->type_name("FILE.md");
        app.add_option("--judge", flags->judge,
                       "ask a judge for the scores of claims that need one; the file of its "
                       "service")
            ->type_name("FILE");
        app.add_option("--progress", flags->progress, "auto, bar, plain or none")
            ->capture_default_str()
            ->type_name("STYLE");
        return [flags, &app] { return run(app, *flags); };
      },
      {},
      {.files = {"--report", "--results", "--slurm"}},
      {"--model"},
      /*several_processes=*/true};
}

}  // namespace pardec
