#pragma once
#include <vector>

#include "src/findings/judge_findings.hpp"
#include "src/report/table.hpp"
#include "src/scoring/judging.hpp"

namespace pardec {

/// What judges said, a row an arm, judge and protocol; how two judges agree, a row a pair of them;
/// strengths where three arms or more were compared. The last two are left out where they are
/// empty.
std::vector<Table> judge_tables(const JudgeFindings& findings, double confidence);

/// What would be asked, and what it takes at most.
Table judge_plan_table(const JudgePlan& plan, bool priced);

}  // namespace pardec
