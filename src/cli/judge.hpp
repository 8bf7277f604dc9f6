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

/// Creates a JudgeTask from the flags. The caller sets JudgeTask::judge. ConfigError: a flag is
/// invalid, or flags.run names no run or several. Other errors: see find_protocol.
JudgeTask judge_task(const JudgeFlags& flags, Store& store);

/// Prints tables of the stored verdicts on the run's answers to stdout. `invocation`: the run's
/// whole id. Errors: see judge_findings.
void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags);

/// Each function runs one action (`run`, `export`, `import`), and returns the exit code: 0, with
/// two exceptions. run_judge returns 3 if a call failed or no answer got a verdict, and 128 plus
/// the signal's number if a signal stopped the action. ConfigError: a flag that the action needs is
/// missing or invalid. StoreError: the database does not exist or cannot be read. Other errors: see
/// judge_task, judge_units and judge_findings; for run_judge, chat::read_service and ask_judge; for
/// the sheets, read_labels, import_labels and write_file.
int run_judge(const JudgeFlags& flags);
int export_sheet(const JudgeFlags& flags);
int import_sheet(const JudgeFlags& flags);

}  // namespace pardec
