#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"

namespace pardec {

/// The contribution of a unit of examples to a level that is a ratio of sums.
struct UnitPart {
  std::string unit;
  double numerator, denominator;
};

/// A quantity that is computed from several levels (e.g. a speedup divided by a prediction from
/// other measurements), with a joint interval: the jackknife leaves out a unit from all levels at
/// once. The units are those that the first and the second level share; other levels may have only
/// some of them. `logarithmic`: the interval is symmetric about the logarithm of the quantity,
/// which must be positive.
Measured joint_quantity(const std::vector<std::vector<UnitPart>>& levels, bool logarithmic,
                        const std::function<double(std::span<const double>)>& of);

/// The levels used by laws about serial and parallel stages, in the order of their arguments.
/// Tokens per second of the arm, of the sequential arm, and of the arm's parallel stages. For the
/// arm's answers: the share of tokens in branches (DP), the share of answers with a parallel stage
/// (PPD), and the number of branches per stage (ABN).
enum StageLevel { kTps, kSequentialTps, kParallelTps, kDp, kPpd, kAbn };

/// The relative deviation of the arm's speedup from the prediction of its stages: the speedup
/// divided by 1/(1 - PPD DP (1 - 1/r)), minus 1. r: the speedup of the parallel stages.
double law_of_stages(std::span<const double> levels);
/// The speedup of parallel stages divided by the number of their branches.
double stage_speedup_per_branch(std::span<const double> levels);

}  // namespace pardec
