#pragma once
#include <vector>

#include "src/findings/judge_findings.hpp"
#include "src/report/table.hpp"
#include "src/scoring/judging.hpp"

namespace pardec {

/// Up to four tables: the verdicts (one row for each JudgedArm), the reasons why votes ended
/// without a verdict, the agreement between judges (one row for each JudgesAgreement), and the
/// Bradley-Terry strengths of the arms. The table of verdicts is always in the result; if nobody
/// judged the run, this table has no rows, and a note says so. The other tables are left out if
/// they are empty. `confidence`: the level of the intervals in `findings`, shown in column headers.
std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence);

/// A table with one row: the number of verdicts and of calls in a plan, and the maximum cost.
/// `priced`: whether the service has prices; if not, the cell of the cost is no_cell(), and a note
/// gives the reason.
Table judge_plan_table(const JudgePlan& plan, bool priced);

}  // namespace pardec
