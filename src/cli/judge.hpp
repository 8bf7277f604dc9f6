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

/// Creates the task of judging from the flags, without JudgeTask::judge, which the caller sets.
/// ConfigError: a flag is invalid, or flags.run names no run or several. Other errors: see
/// find_protocol.
JudgeTask judge_task(const JudgeFlags& flags, Store& store);

/// Prints the verdicts on the run's answers to stdout. `invocation`: the run's whole id.
void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags);

/// Each function runs one action (`run`, `export`, `import`), and returns the exit code: 0, with
/// two exceptions. run_judge returns 3 if a call failed or no answer got a verdict, and 128 plus
/// the signal's number if a signal stopped it.
int run_judge(const JudgeFlags& flags);
int export_sheet(const JudgeFlags& flags);
int import_sheet(const JudgeFlags& flags);

}  // namespace pardec
