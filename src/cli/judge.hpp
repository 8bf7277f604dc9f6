#pragma once
// What the actions of `pardec judge` share.
#include <cstdint>
#include <string>

#include "src/scoring/judging.hpp"

namespace pardec {

struct JudgeFlags {
  std::string action = "run", db = "results/pardec.sqlite", run, service, protocol, baseline;
  std::string references = "auto", labels, name, out, format = "md", progress = "auto";
  int votes = 1;
  std::int64_t limit = 0, max_tokens = 2048, token_budget = 0;
  double budget = 0, confidence = 0.95;
  std::uint64_t seed = 1;
  bool dry_run = false;
};

/// What the flags say of who judges what; the judge is still to be named.
JudgeTask judge_task(const JudgeFlags& flags, Store& store);

/// What judges said of the run's answers, on stdout.
void print_judged(Store& store, const std::string& invocation, const JudgeFlags& flags);
/// Which answers no judge can be shown, on stderr.
void print_left_out(const JudgeUnits& units);

/// Each runs one action; exit code.
int run_judge(const JudgeFlags& flags);
int export_sheet(const JudgeFlags& flags);
int import_sheet(const JudgeFlags& flags);

}  // namespace pardec
