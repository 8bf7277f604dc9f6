// `pardec judge export` and `import`: people as judges.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "src/cli/judge.hpp"
#include "src/cli/print_note.hpp"
#include "src/report/judge_sheet.hpp"
#include "src/scoring/ask_judge.hpp"
#include "src/scoring/labels.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

int export_sheet(const JudgeFlags& flags) {
  if (flags.out.empty())
    throw ConfigError("judge export: no --out given, expected a file that ends in .csv or .html");
  const std::string ending = std::filesystem::path(flags.out).extension().string();
  if (ending != ".csv" && ending != ".html")
    throw ConfigError(str("--out ", flags.out, ": expected a file that ends in .csv or .html"));
  Store store(flags.db, {.read_only = true});
  const JudgeTask task = judge_task(flags, store);
  const JudgeUnits units = judge_units(store, task);
  tell_of_left_out(units, print_note);
  const Sheet sheet = make_sheet(task, units, flags.seed);
  write_file(flags.out, ending == ".csv" ? sheet_csv(sheet) : sheet_page(sheet));
  // The command to import must select the same items, so it repeats all flags that selected them.
  std::string command = str("pardec judge import --db ", flags.db, " --run ",
                            task.invocation.substr(0, 8), " --protocol ", flags.protocol);
  if (!flags.baseline.empty()) command += " --baseline " + flags.baseline;
  if (flags.references != "auto") command += " --references " + flags.references;
  const auto equal = std::count_if(units.units.begin(), units.units.end(),
                                   [](const JudgeUnit& unit) { return unit.equal; });
  std::cout << flags.out << ": " << counted(std::ssize(sheet.items), "item")
            << (equal == 0 ? ""
                           : str(" (without ", counted(equal, "pair"),
                                 " of equal answers, which are ties)"))
            << "; when it is filled in: " << command << " --labels FILE --name NAME\n";
  return 0;
}

int import_sheet(const JudgeFlags& flags) {
  if (flags.labels.empty())
    throw ConfigError("judge import: no --labels given, expected a sheet that was filled in");
  if (flags.name.empty()) throw ConfigError("judge import: no --name given, expected who judged");
  { Store exists(flags.db, {.read_only = true}); }
  Store store(flags.db);
  JudgeTask task = judge_task(flags, store);
  const std::vector<Label> labels = read_labels(flags.labels, task.protocol.name);
  if (labels.empty())
    throw ConfigError(str("--labels ", flags.labels, ": no item of it has a verdict"));
  task.judge = {std::string(kHuman) + flags.name, Json::object()};
  const JudgeUnits units = judge_units(store, task);
  import_labels(store, task, units, labels);
  std::fprintf(stderr, "%s of %s stored\n", counted(std::ssize(labels), "verdict").c_str(),
               visible_text(task.judge.name).c_str());
  print_judged(store, task.invocation, flags);
  return 0;
}

}  // namespace pardec
