#pragma once
#include <vector>

#include "src/findings/judge_findings.hpp"
#include "src/report/table.hpp"
#include "src/scoring/judging.hpp"

namespace pardec {

/// Up to four tables: the verdicts (one row per dataset, arm, judge and protocol), the reasons why
/// votes ended without a verdict, the agreement between judges (one row per pair of judges), and
/// the Bradley-Terry strengths of the arms (if at least three arms were compared). The first table
/// is always there; if nobody judged the run, it has no rows, and a note. The other tables are left
/// out if they are empty. `confidence`: the level of the intervals in `findings`, for headers.
std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence);

/// The requests that a judge would get, and their maximum cost. `priced`: whether the service has
/// prices.
Table judge_plan_table(const JudgePlan& plan, bool priced);

}  // namespace pardec
