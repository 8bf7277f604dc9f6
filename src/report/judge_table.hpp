#pragma once
#include <vector>

#include "src/findings/judge_findings.hpp"
#include "src/report/table.hpp"
#include "src/scoring/judging.hpp"

namespace pardec {

/// The judges' verdicts, one row per arm, judge and protocol; agreement between judges, one row per
/// pair of judges; Bradley-Terry strengths of the arms, if at least three arms were compared. The
/// last two are left out if they are empty.
std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence);

/// The planned requests, and their maximum cost.
Table judge_plan_table(const JudgePlan& plan, bool priced);

}  // namespace pardec
