#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"

namespace pardec {

/// The contribution of one unit to a level. A unit is one example, or several examples that stay
/// together. A level is the sum of the numerators divided by the sum of the denominators.
struct UnitPart {
  std::string unit;  ///< name of the unit; several parts may have the same name
  double numerator, denominator;
};

/// Computes a quantity from several levels, with a jackknife interval that leaves out one unit from
/// all levels at once. Example: a speedup divided by a prediction from other levels. `levels`:
/// [level][part], with at least two levels. Only the units that both the first and the second level
/// have are used; the other levels may lack some of these units. If there are no such units, the
/// quantity is NaN. `of`: computes the quantity from the values of the levels, in the order of
/// `levels`. `logarithmic`: whether the interval is computed for the logarithm of the quantity.
/// REQUIRES: if `logarithmic`, the quantity is positive.
Measured joint_quantity(const std::vector<std::vector<UnitPart>>& levels, bool logarithmic,
                        const std::function<double(std::span<const double>)>& of);

/// Indices of the levels in the arguments of law_of_stages and stage_speedup_per_branch. kTps,
/// kSequentialTps and kParallelTps are the tokens per second of the arm, of the sequential arm, and
/// of the arm's parallel stages. kDp, kPpd and kAbn are metrics of the arm's answers from the ASPD
/// paper, section 4.1 (ParallelMetrics): the share of tokens in branches (DP), the share of answers
/// with a parallel stage (PPD), and the number of branches in a stage (ABN).
enum StageLevel { kTps, kSequentialTps, kParallelTps, kDp, kPpd, kAbn };

/// The metric serial_parallel_law: the relative deviation of the arm's speedup from a prediction,
/// speedup / prediction - 1. The prediction is 1 / (1 - PPD DP (1 - 1/r)), where r is the speedup
/// of the parallel stages. `levels`: one value for each StageLevel, in the order of the enum.
double law_of_stages(std::span<const double> levels);
/// The metric stage_speedup_per_branch: the speedup of the parallel stages divided by ABN.
/// `levels`: as in law_of_stages.
double stage_speedup_per_branch(std::span<const double> levels);

}  // namespace pardec
