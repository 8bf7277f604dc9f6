#pragma once
#include <vector>

#include "src/findings/judge_findings.hpp"
#include "src/report/table.hpp"
#include "src/scoring/judging.hpp"

namespace pardec {

/// Three tables: the verdicts (one row per arm, judge and protocol), the agreement between judges
/// (one row per pair of judges), and the Bradley-Terry strengths of the arms (if at least three
/// arms were compared). The second and third table are left out if they are empty.
std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence);

/// The requests that a judge would get, and their maximum cost. `priced`: whether the service has
/// prices.
Table judge_plan_table(const JudgePlan& plan, bool priced);

}  // namespace pardec
