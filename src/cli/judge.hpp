#pragma once
// What the actions of `pardec judge` share.
#include <cstdint>
#include <string>
#include <vector>

#include "src/scoring/judging.hpp"

namespace pardec {

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

/// What the flags say of who judges what; the judge is still to be named.
JudgeTask judge_task(const JudgeFlags& flags, Store& store);

/// What judges said of the run's answers, on stdout.
void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags);

/// Each runs one action; exit code.
int run_judge(const JudgeFlags& flags);
int export_sheet(const JudgeFlags& flags);
int import_sheet(const JudgeFlags& flags);

}  // namespace pardec
