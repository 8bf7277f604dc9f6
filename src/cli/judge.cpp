// `pardec judge`: verdicts on stored answers, from networks behind services and from people.
#include "src/cli/judge.hpp"

#include <cstdio>
#include <iostream>
#include <memory>

#include "src/asking/paid_service.hpp"
#include "src/chat/service.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/with_flags.hpp"
#include "src/findings/comparison.hpp"
#include "src/findings/judge_findings.hpp"
#include "src/report/judge_table.hpp"
#include "src/scoring/ask_judge.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

ShowReferences references_of(const std::string& name) {
  if (name == "auto") return ShowReferences::automatically;
  if (name == "always") return ShowReferences::always;
  if (name == "never") return ShowReferences::never;
  throw ConfigError(str("--references ", name, known_names(name, {"auto", "always", "never"})));
}

void add_judge_flags(CLI::App& app, JudgeFlags& flags) {
  const auto text = [&](const char* flag, std::string& value, const char* what, const char* type) {
    return app.add_option(flag, value, what)->type_name(type);
  };
  app.add_option(
         "action", flags.action,
         "run: ask a judge, or continue; export: a blind sheet for people; import: their verdicts")
      ->capture_default_str();
  text("--db", flags.db, "database; verdicts are stored in it", "FILE")->capture_default_str();
  text("--run", flags.run,
       "name of a run, or the first characters of its id; without it the newest", "ID");
  text("--protocol", flags.protocol,
       "five-classes, single, pairwise, or the file of a template of your own (.json)", "NAME");
  app.add_option("--dataset", flags.datasets, "only these datasets of the run; without it all")
      ->delimiter(',')
      ->type_name("A,B");
  text("--baseline", flags.baseline,
       "pairwise: the arm that the others are compared with; without it each arm's own baseline",
       "LABEL");
  text("--references", flags.references,
       "whether the judge sees reference answers: auto (for mathematics, reasoning, code), always "
       "or never",
       "WHEN")
      ->capture_default_str();
  app.add_option("--limit", flags.limit,
                 "number of examples of each dataset, spread over categories; 0: all")
      ->capture_default_str()
      ->type_name("N");
  text("--service", flags.service,
       "file that describes the service (results/judges.md); without it, stored verdicts are shown",
       "FILE")
      ->group(flags_of({"run"}));
  app.add_option("--votes", flags.votes, "how often each answer is judged")
      ->capture_default_str()
      ->type_name("N")
      ->group(flags_of({"run"}));
  app.add_option("--max-tokens", flags.max_tokens,
                 "limit of the tokens of a reply, including its reasoning")
      ->capture_default_str()
      ->type_name("N")
      ->group(flags_of({"run"}));
  app.add_option(
         "--budget", flags.budget,
         "limit of money for this judge, including earlier calls in this database; 0: no limit")
      ->capture_default_str()
      ->type_name("X")
      ->group(flags_of({"run"}));
  app.add_option(
         "--token-budget", flags.token_budget,
         "limit of tokens for this judge, including earlier calls in this database; 0: no limit")
      ->capture_default_str()
      ->type_name("N")
      ->group(flags_of({"run"}));
  app.add_flag("--retry-unscored", flags.retry_unscored,
               "ask again, and pay again, for votes that were unscored or refused, e.g. with more "
               "--max-tokens")
      ->group(flags_of({"run"}));
  app.add_flag("--dry-run", flags.dry_run, "print the number of calls and tokens, and the price")
      ->group(flags_of({"run"}));
  text("--progress", flags.progress, "auto, bar, plain or none", "STYLE")
      ->capture_default_str()
      ->group(flags_of({"run"}));
  text("--out", flags.out, "the sheet: .csv, or .html, a page that opens offline", "FILE")
      ->group(flags_of({"export"}));
  app.add_option("--seed", flags.seed, "seed of the order of items, and of A and B")
      ->capture_default_str()
      ->type_name("N")
      ->group(flags_of({"export"}));
  text("--labels", flags.labels, "a sheet that was filled in, .csv or .json", "FILE")
      ->group(flags_of({"import"}));
  text("--name", flags.name, "who judged; stored as judge human:NAME", "NAME")
      ->group(flags_of({"import"}));
  app.add_option("--confidence-level", flags.confidence, "confidence level of the intervals")
      ->capture_default_str()
      ->type_name("X");
  add_format(app, flags.format);
}

}  // namespace

JudgeTask judge_task(const JudgeFlags& flags, Store& store) {
  if (flags.protocol.empty())
    throw ConfigError(str("judge ", flags.action, ": no --protocol given; known: ",
                          join(protocol_names(), ", "), ", or a template.json of your own"));
  check_at_least("votes", flags.votes, 1);
  check_at_least("limit", flags.limit, 0);
  check_at_least("max_tokens", flags.max_tokens, 1);
  check_at_most("max_tokens", flags.max_tokens, chat::kMostTokens);
  check_at_least("budget", flags.budget, 0);
  check_at_least("token_budget", flags.token_budget, 0);
  JudgeTask task;
  task.invocation = find_invocation(store, flags.run);
  task.protocol = find_protocol(flags.protocol, references_of(flags.references));
  task.votes = flags.votes;
  task.retry = flags.retry_unscored;
  task.datasets = flags.datasets;
  task.baseline = flags.baseline;
  task.limit = flags.limit;
  task.max_tokens = flags.max_tokens;
  return task;
}

void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Snapshot snapshot(store.database());  // others may be judging, too
  const auto tables =
      judge_tables(judge_findings(store, invocation, flags.confidence), flags.confidence);
  TablePrinter printer(format);
  for (const Table& table : tables) printer.print(table);
  printer.finish();
}

int run_judge(const JudgeFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  parse_progress_style(flags.progress);
  { Store exists(flags.db, {.read_only = true}); }  // never creates a database
  if (flags.service.empty()) {
    if (flags.dry_run || !flags.protocol.empty() || !flags.datasets.empty())
      std::fputs("no --service: no judge is asked, and all stored verdicts are shown\n", stderr);
    Store store(flags.db, {.read_only = true});
    print_judged(store, find_invocation(store, flags.run), flags);
    return 0;
  }
  const SignalStop stop;
  const chat::ServiceSpec service = chat::read_service(flags.service);
  if (!flags.dry_run) check_service(service, print_note);
  Store store(flags.db, {.read_only = flags.dry_run});
  JudgeTask task = judge_task(flags, store);
  task.judge = {service.model, chat::identity(service)};
  const JudgeUnits units = judge_units(store, task);
  tell_of_left_out(units, print_note);
  if (flags.dry_run) {
    const JudgePlan plan = plan_judging(store, task, units, [&](const chat::Call& call) {
      return chat::worst_case(service, call);
    });
    print_table(judge_plan_table(plan, service.prices.has_value()), format);
    return 0;
  }
  chat::Budget budget;
  if (flags.budget > 0) budget.money = flags.budget;
  if (flags.token_budget > 0) budget.tokens = flags.token_budget;
  const JudgeProgress done = ask_judge(store, task, units, service,
                                       {.budget = budget,
                                        .progress = parse_progress_style(flags.progress),
                                        .stop = stop.token(),
                                        .notes = print_note});
  if (stop.signal()) {
    std::fprintf(stderr, "stopped; all verdicts so far are in %s; the same command continues\n",
                 flags.db.c_str());
    return 128 + stop.signal();
  }
  print_judged(store, task.invocation, flags);
  const bool none = done.done() > 0 && done.scored == 0;
  if (none) std::fputs("no answer got a verdict; the table has the reasons\n", stderr);
  return done.failed > 0 || none ? 3 : 0;
}

Verb judge_verb() {
  return {
      "judge",
      "ask judges (networks or people) about stored answers",
      "pardec judge --db r.sqlite --service judge.json --protocol single --dry-run\n"
      "  pardec judge export --db r.sqlite --protocol pairwise --out sheet.html\n"
      "  pardec judge import --db r.sqlite --protocol pairwise --labels labels.json --name ANNA",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<JudgeFlags>();
        add_judge_flags(app, *flags);
        return [flags] {
          // before anything is stored or written
          parse_table_format(flags->format);
          check_compare_options({.confidence = flags->confidence});
          if (flags->action == "run") return run_judge(*flags);
          if (flags->action == "export") return export_sheet(*flags);
          return import_sheet(*flags);
        };
      },
      {"run", "export", "import"},
      {.files = {"--out"}}};
}

}  // namespace pardec
