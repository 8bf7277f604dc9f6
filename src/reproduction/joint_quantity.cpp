#include "src/reproduction/joint_quantity.hpp"

#include <cmath>
#include <map>
#include <set>

namespace pardec {

Measured joint_quantity(const std::vector<std::vector<UnitPart>>& levels, bool logarithmic,
                        const std::function<double(std::span<const double>)>& of) {
  struct Sum {
    double numerator = 0, denominator = 0;
  };
  using Sums = std::vector<Sum>;
  std::map<std::string, Sums> units;
  std::set<std::string> first, second;
  for (std::size_t l = 0; l < levels.size(); ++l)
    for (const UnitPart& part : levels[l]) {
      Sums& sums = units.try_emplace(part.unit, levels.size()).first->second;
      sums[l].numerator += part.numerator;
      sums[l].denominator += part.denominator;
      if (l < 2) (l == 0 ? first : second).insert(part.unit);
    }
  std::erase_if(units, [&](const auto& unit) {
    return !first.contains(unit.first) || !second.contains(unit.first);
  });
  Sums all(levels.size());
  for (const auto& [unit, sums] : units)
    for (std::size_t l = 0; l < levels.size(); ++l) {
      all[l].numerator += sums[l].numerator;
      all[l].denominator += sums[l].denominator;
    }
  const auto value = [&](const Sums& without) {
    std::vector<double> means;
    for (std::size_t l = 0; l < levels.size(); ++l)
      means.push_back((all[l].numerator - without[l].numerator) /
                      (all[l].denominator - without[l].denominator));
    return logarithmic ? std::log(of(means)) : of(means);
  };
  std::vector<double> without;
  for (const auto& [unit, sums] : units) without.push_back(value(sums));
  Interval interval = jackknife_interval(value(Sums(levels.size())), without);
  if (logarithmic)
    interval = {std::exp(interval.estimate), std::exp(interval.low), std::exp(interval.high)};
  return {interval, std::ssize(units), logarithmic, false};
}

double law_of_stages(std::span<const double> levels) {
  const double speedup = levels[kTps] / levels[kSequentialTps],
               of_stages = levels[kParallelTps] / levels[kSequentialTps];
  return speedup * (1 - levels[kPpd] * levels[kDp] * (1 - 1 / of_stages)) - 1;
}

double stage_speedup_per_branch(std::span<const double> levels) {
  return levels[kParallelTps] / levels[kSequentialTps] / levels[kAbn];
}

}  // namespace pardec
