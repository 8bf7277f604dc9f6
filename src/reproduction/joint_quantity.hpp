#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/reproduction/verdicts.hpp"

namespace pardec {

/// What a unit of examples adds to a level that is a ratio of sums.
struct UnitPart {
  std::string unit;
  double numerator, denominator;
};

/// A quantity that is computed of several levels (e.g. a speedup over what other measures predict)
/// with the interval that all of them together give it: a unit is left out of every level at once
/// (jackknife). Units are those of both the first and the second level; the others may be of some
/// of them. `logarithmic`: the interval is symmetric about the logarithm of the quantity, which is
/// then above 0.
Measured joint_quantity(const std::vector<std::vector<UnitPart>>& levels, bool logarithmic,
                        const std::function<double(std::span<const double>)>& of);

/// The levels that laws of serial and parallel stages are about, in the order of their arguments:
/// tokens a second of the arm, of the sequential one, and of the arm's parallel stages; of the
/// arm's answers the share of tokens in branches (DP), the share with a parallel stage (PPD), and
/// the branches of a stage (ABN).
enum StageLevel { kTps, kSequentialTps, kParallelTps, kDp, kPpd, kAbn };

/// How far the arm's speedup is from what its stages predict: over 1/(1 - PPD DP (1 - 1/r)), r
/// their own speedup, less 1.
double law_of_stages(std::span<const double> levels);
/// The speedup of parallel stages over the number of their branches.
double stage_speedup_per_branch(std::span<const double> levels);

}  // namespace pardec
