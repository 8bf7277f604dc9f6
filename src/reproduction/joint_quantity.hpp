#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"

namespace pardec {

/// One unit's contribution to a level. A level is a ratio of sums over units; a unit is a group of
/// examples.
struct UnitPart {
  std::string unit;
  double numerator, denominator;
};

/// Computes a quantity from several levels, with an interval. Example: a speedup divided by a
/// prediction from other levels. The interval is a jackknife that leaves out one unit from all
/// levels at once. Quantity and interval use the units that both the first and the second level
/// have; other levels may lack some of these units. Without such units, the quantity is NaN. `of`:
/// computes the quantity from the levels. `logarithmic`: the interval is symmetric about the
/// logarithm of the quantity. REQUIRES: a positive quantity if `logarithmic`.
Measured joint_quantity(const std::vector<std::vector<UnitPart>>& levels, bool logarithmic,
                        const std::function<double(std::span<const double>)>& of);

/// Indices of the levels in the arguments of law_of_stages and stage_speedup_per_branch. kTps,
/// kSequentialTps and kParallelTps are the tokens per second of the arm, of the sequential arm, and
/// of the arm's parallel stages. kDp, kPpd and kAbn describe the arm's answers with the ASPD
/// paper's terms: the share of tokens in branches (DP), the share of answers with a parallel stage
/// (PPD), and the number of branches per stage (ABN).
enum StageLevel { kTps, kSequentialTps, kParallelTps, kDp, kPpd, kAbn };

/// The relative deviation of the arm's speedup from its prediction 1 / (1 - PPD DP (1 - 1/r)),
/// where r is the speedup of the parallel stages: speedup / prediction - 1.
double law_of_stages(std::span<const double> levels);
/// The speedup of the parallel stages divided by the number of branches per stage.
double stage_speedup_per_branch(std::span<const double> levels);

}  // namespace pardec
