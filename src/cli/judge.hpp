#pragma once
// Shared by the actions of `pardec judge`.
#include <cstdint>
#include <string>
#include <vector>

#include "src/scoring/judging.hpp"

namespace pardec {

/// The flags of all actions; src/cli/flags.md explains them.
struct JudgeFlags {
  std::string action = "run", db = "results/pardec.sqlite", run, service, protocol, baseline;
  std::string references = "auto", labels, name, out, format = "text", progress = "auto";
  std::vector<std::string> datasets;
  int votes = 1;
  std::int64_t limit = 0, max_tokens = 2048, token_budget = 0;
  double budget = 0, confidence = 0.95;
  std::uint64_t seed = 1;
  bool dry_run = false, retry_unscored = false;
};

/// Creates a JudgeTask from the flags. JudgeTask::judge is not set; the caller must set it.
/// ConfigError: a flag is missing or invalid, or flags.run names no run or several. Other errors:
/// see find_protocol.
JudgeTask judge_task(const JudgeFlags& flags, Store& store);

/// Prints tables of all stored verdicts on a run's answers to stdout. `invocation`: the run's whole
/// id. Of `flags`, only `format` and `confidence` are used. Errors: see judge_findings and
/// parse_table_format.
void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags);

// Each of the next three functions runs one action, prints the result, and returns the exit code.
// ConfigError: a flag that the action needs is missing or invalid. StoreError: the database does
// not exist or cannot be read. Other errors of all three: see judge_task, judge_units and
// judge_findings.

/// `run`: asks the judge, stores its verdicts, and prints all stored verdicts (print_judged).
/// Without flags.service, no judge is asked. With flags.dry_run, only the number of calls, their
/// tokens and their price are printed. Returns 3 if a call failed or no answer received a verdict,
/// 128 plus the signal's number if a signal stopped the action, and otherwise 0. Further errors:
/// see chat::read_service, check_service and ask_judge.
int run_judge(const JudgeFlags& flags);
/// `export`: writes a sheet for people to the file flags.out, and prints the command that imports
/// the filled-in sheet. Returns 0. Further errors: see write_file.
int export_sheet(const JudgeFlags& flags);
/// `import`: stores the verdicts in the filled-in sheet flags.labels, and prints all stored
/// verdicts. Returns 0. Further errors: see read_labels and import_labels.
int import_sheet(const JudgeFlags& flags);

}  // namespace pardec
