// `pardec runs`: lists and compares stored runs, and edits their names and notes.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "src/cli/across_runs.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/run_list_table.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/store/invocations.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct RunsFlags {
  std::string db = "results/pardec.sqlite", action = "list", format = "text";
  std::vector<std::string> arguments;  ///< for the action
  RunListFilter filter;
  int limit = 20;
  double confidence = 0.95;
  bool yes = false, wide = false;
};

int list(const RunsFlags& flags, TableFormat format) {
  check_at_least("limit", flags.limit, 0);
  Store store(flags.db, {.read_only = true});
  const Snapshot snapshot(store.database());
  print_table(choose_columns(run_list_table(list_runs(store, flags.filter, flags.limit)),
                             {.wide = flags.wide}),
              format);
  return 0;
}

/// The invocation that an action applies to. `with_text`: the action has a further argument.
std::string target(Store& store, const RunsFlags& flags, bool with_text) {
  const size_t expected = with_text ? 2 : 1;
  if (flags.arguments.size() != expected)
    throw ConfigError(str("runs ", flags.action, ": ",
                          counted(std::ssize(flags.arguments), "argument"), " given, expected ",
                          with_text ? "ID and TEXT" : "ID",
                          with_text ? "; TEXT with spaces goes in quotes, '' removes it" : ""));
  if (flags.arguments.front().empty())
    throw ConfigError(str("runs ", flags.action,
                          ": ID is empty, expected a name, or the first "
                          "characters of an id"));
  return find_invocation(store, flags.arguments.front());
}

int rename(const RunsFlags& flags) {
  { Store exists(flags.db, {.read_only = true}); }  // never creates a database
  Store store(flags.db);
  const std::string invocation = target(store, flags, true);
  const std::string& text = flags.arguments.back();
  if (flags.action == "name")
    name_invocation(store, invocation, text);
  else
    note_invocation(store, invocation, text);
  std::cout << invocation.substr(0, 8) << ": " << flags.action << " "
            << (text.empty() ? "removed" : str("'", text, "'")) << "\n";
  return 0;
}

bool agreed(const std::string& what) {
  std::cerr << "remove " << what << "? [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

int remove(const RunsFlags& flags) {
  { Store exists(flags.db, {.read_only = true}); }
  Store store(flags.db);
  const std::string invocation = target(store, flags, false);
  const ListedRun run = listed_run(store, invocation);
  const std::string what =
      str(invocation.substr(0, 8), " (", run.started_utc.substr(0, 16), ", ", join(run.arms, ", "),
          ", ", counted(run.examples, "example"), ", ", name(run.status), ")");
  if (const long owner = SideFiles::open_elsewhere(flags.db);
      owner != 0 && run.status == RunStatus::running)
    throw ConfigError(str("runs rm: ", what, " may still run in process ", owner,
                          ", which has the database open: its answers would lose their run; stop "
                          "the process, or wait for its end"));
  if (!flags.yes) {
    if (run.status == RunStatus::running)
      throw ConfigError(str("runs rm: ", what,
                            " is running, or was killed and can be resumed; --yes removes it"));
    if (::isatty(STDIN_FILENO) == 0)
      throw ConfigError(
          str("runs rm: there is no terminal to ask whether to remove ", what, "; expected --yes"));
    if (!agreed(what)) {
      std::cout << "kept\n";
      return 0;
    }
  }
  remove_invocation(store, invocation);
  std::cout << "removed " << what << "\n";
  return 0;
}

int runs(const RunsFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (flags.action == "compare")
    return print_across(flags.db, flags.arguments, flags.confidence, format);
  if (flags.action == "name" || flags.action == "note") return rename(flags);
  if (flags.action == "rm") return remove(flags);
  if (flags.action != "list")
    throw ConfigError(str("runs: unknown action '", flags.action, "'",
                          known_names(flags.action, {"list", "compare", "name", "note", "rm"})));
  if (!flags.arguments.empty())
    throw ConfigError(str("runs list: unexpected argument '", flags.arguments.front(), "'"));
  return list(flags, format);
}

}  // namespace

Verb runs_verb() {
  return {
      "runs",
      "list, compare, name, annotate and remove the runs of a database",
      "pardec runs --db r.sqlite\n  pardec runs --db r.sqlite --dataset oa-mine --since "
      "2026-01-31 --limit 5\n  pardec runs compare 3f2a 91c0 --db r.sqlite\n  pardec runs name "
      "3f2a 'stack 2' --db r.sqlite\n  pardec runs note 3f2a 'machine was busy' --db "
      "r.sqlite\n  pardec runs rm 3f2a --db r.sqlite",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<RunsFlags>();
        app.add_option("action", flags->action,
                       "list (the default), compare ID ID..., name ID TEXT, note ID TEXT or rm ID");
        app.add_option("arguments", flags->arguments,
                       "ID: a run's name, the first characters of its id, or latest");
        add_flag(app, db_setting(flags->db));
        app.add_option("--dataset", flags->filter.dataset, "runs on this dataset")
            ->type_name("NAME")
            ->group(flags_of({"list"}));
        app.add_option("--model", flags->filter.model,
                       "runs of a network whose path contains this, or whose hash begins with it")
            ->type_name("TEXT")
            ->group(flags_of({"list"}));
        app.add_option("--decoder", flags->filter.decoder,
                       "runs with this decoder, or an arm of this label")
            ->type_name("NAME")
            ->group(flags_of({"list"}));
        app.add_option(
               "--since", flags->filter.since,
               "runs that started at DATE or later, e.g. 2026-01-31 or 2026-01-31T18:00 (UTC)")
            ->type_name("DATE")
            ->group(flags_of({"list"}));
        app.add_option("--limit", flags->limit, "the newest N; 0: all")
            ->capture_default_str()
            ->type_name("N")
            ->group(flags_of({"list"}));
        app.add_option("--confidence-level", flags->confidence, "confidence level of the intervals")
            ->capture_default_str()
            ->type_name("X")
            ->group(flags_of({"compare"}));
        app.add_flag("--yes", flags->yes,
                     "remove without asking, also runs that are still running or were killed")
            ->group(flags_of({"rm"}));
        app.add_flag("--wide", flags->wide, "all columns")->group(flags_of({"list"}));
        add_format(app, flags->format)->group(flags_of({"list", "compare"}));
        return [flags] { return runs(*flags); };
      },
      {"list", "compare", "name", "note", "rm"},
      {},
      {"--yes", "--model", "--dataset", "--decoder", "--since", "--limit"}};
}

}  // namespace pardec
