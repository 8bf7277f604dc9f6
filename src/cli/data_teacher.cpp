#include "src/cli/data_teacher.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "src/asking/paid_service.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/print_note.hpp"
#include "src/cli/table_output.hpp"
#include "src/runs/execute.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/project_files.hpp"
#include "src/support/read_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

void add_teacher_flags(CLI::App& app, DataFlags& flags) {
  const auto both = flags_of({"rewrite", "label"}), rewrite = flags_of({"rewrite"});
  const auto text = [&](const char* flag, std::string& value, const char* what, const char* type) {
    return app.add_option(flag, value, what)->type_name(type);
  };
  text("--service", flags.service, "file that describes the service to ask (results/judges.md)",
       "FILE")
      ->group(both);
  text("--out", flags.out, "the file that is made, for dataset jsonl", "FILE")->group(both);
  text("--details", flags.details,
       "write the result of each example, with the reason, as JSON lines", "FILE")
      ->group(both);
  text("--db", flags.answers.db, "database; replies are stored in it, and none is paid for twice",
       "FILE")
      ->capture_default_str()
      ->group(both);
  text("--from-run", flags.answers.run,
       "rewrite the answers of a run instead of references: name of the run, or the first "
       "characters of its id; answers that were cut at a limit, or that loop, are left out",
       "RUN")
      ->group(rewrite);
  text("--from-arm", flags.answers.arm, "label of the run's arm, if it has several", "LABEL")
      ->group(rewrite);
  const auto number = [&](const char* flag, auto& value, const char* what, const char* type) {
    app.add_option(flag, value, what)->capture_default_str()->type_name(type)->group(both);
  };
  number("--limit", flags.limit, "number of examples, spread over categories; 0: all", "N");
  number("--max-tokens", flags.max_tokens,
         "limit of the tokens of a reply, including its reasoning", "N");
  number("--budget", flags.budget,
         "limit of money for this service, including earlier calls in this database; 0: no limit",
         "X");
  number("--token-budget", flags.token_budget,
         "limit of tokens for this service, including earlier calls in this database; 0: no limit",
         "N");
  app.add_flag("--dry-run", flags.dry_run,
               "print how many calls are known now, with their tokens and their price")
      ->group(both);
}

Dataset teacher_dataset(const DataFlags& flags) {
  const std::string action = "data " + flags.action;
  parse_table_format(flags.format);
  parse_progress_style(flags.progress);
  if (flags.datasets.size() != 1)
    throw ConfigError(str(action, ": expected one dataset, found ", flags.datasets.size(),
                          "; 'pardec list datasets' names them"));
  if (flags.service.empty())
    throw ConfigError(
        str(action, ": no --service given, expected a file that says which one to ask"));
  if (flags.out.empty() && !flags.dry_run)
    throw ConfigError(str(action,
                          ": no --out given, expected the file that gets the data, e.g. "
                          "DATA/jsonl/NAME.jsonl"));
  check_at_least("limit", flags.limit, 0);
  check_at_least("max_tokens", flags.max_tokens, 1);
  check_at_most("max_tokens", flags.max_tokens, chat::kMostTokens);
  check_at_least("budget", flags.budget, 0);
  check_at_least("token_budget", flags.token_budget, 0);
  Dataset dataset =
      load_dataset(find_dataset(flags.datasets.front()),
                   flags.data_root.empty() ? std::nullopt
                                           : std::optional<std::filesystem::path>(flags.data_root),
                   flags.split, project_file("datasets/samples"));
  ReadFiles read;
  for (const auto& file : dataset.files) read.add("dataset " + dataset.name, file);
  for (const auto& [flag, file] : {std::pair("--out", flags.out), {"--details", flags.details}})
    if (!file.empty()) read.check(flag, file);
  if (dataset.sample) print_note(own_sample_note(dataset));
  return dataset;
}

Teacher::Teacher(const DataFlags& flags)
    : flags_(flags),
      service_(chat::read_service(flags.service)),
      record_{service_.model, chat::identity(service_)} {
  if (!flags.dry_run) check_service(service_, print_note);
  constexpr OpenOptions kOpen{.create_folders = true};
  if (!flags.dry_run || Store::exists(flags.answers.db, kOpen))
    store_.emplace(flags.answers.db, kOpen);
}

void Teacher::operator()(const chat::NextCall& next, chat::Events& events) {
  if (flags_.dry_run) {
    while (const auto call = next()) {
      ++calls_;
      const chat::WorstCase worst = chat::worst_case(service_, *call);
      worst_.tokens += worst.tokens;
      worst_.cost += worst.cost;
    }
    return;
  }
  chat::Budget budget;
  if (flags_.budget > 0) budget.money = flags_.budget;
  if (flags_.token_budget > 0) budget.tokens = flags_.token_budget;
  const std::stop_callback said(stop_.token(), [] { print_note(kStoppingNote); });
  const AskingLock alone(store_->path(), record_);
  paid_service(*store_, record_, service_, budget).ask(next, events, stop_.token());
}

void Teacher::print_plan(const char* follows) const {
  Table table;
  table.title = "What would be asked";
  table.columns = {{"calls", Align::right},
                   {"tokens at most", Align::right, "tokens"},
                   {"price at most", Align::right, "price"}};
  table.rows.push_back({number_cell(calls_), number_cell(worst_.tokens),
                        service_.prices ? number_cell(worst_.cost, 4) : no_cell()});
  table.notes = {str("Stored replies are not asked for again. ", follows),
                 "at most: each prompt has fewer tokens than bytes, each reply --max-tokens."};
  if (!service_.prices) table.notes.emplace_back("no price: the service's file has no 'prices'.");
  print_table(table, parse_table_format(flags_.format));
}

std::optional<int> Teacher::stopped() const {
  if (!stop_.signal()) return std::nullopt;
  std::fprintf(stderr, "stopped; all replies so far are in %s; the same command continues\n",
               flags_.answers.db.c_str());
  return 128 + stop_.signal();
}

int Teacher::end(std::int64_t calls, std::int64_t undecided, std::int64_t made) {
  print_note(spent_note(*store_, record_, "teacher", calls));
  if (undecided == 0 && made == 0) {
    std::fprintf(stderr, "no example gave a result; the table has the reasons\n");
    return 3;
  }
  if (undecided == 0) return 0;
  std::fprintf(stderr, "%s undecided, since calls failed; the same command asks again\n",
               counted(undecided, "example").c_str());
  return 3;
}

void print_made(const Table& table,
                const std::vector<std::pair<const char*, std::map<std::string, std::int64_t>>>& why,
                const DataFlags& flags) {
  constexpr size_t kMost = 20;
  TablePrinter printer(parse_table_format(flags.format));
  printer.print(table);
  for (const auto& [title, reasons] : why) {
    if (reasons.empty()) continue;
    std::vector<std::pair<std::string, std::int64_t>> sorted(reasons.begin(), reasons.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    Table of;
    of.title = title;
    of.columns = {{"reason"}, {"count", Align::right}};
    for (size_t r = 0; r < std::min(kMost, sorted.size()); ++r)
      of.rows.push_back({visible_text(sorted[r].first), number_cell(sorted[r].second)});
    if (sorted.size() > kMost)
      of.notes = {str("and ", sorted.size() - kMost, " further reasons; --details has all.")};
    printer.print(of);
  }
  printer.finish();
}

}  // namespace pardec
