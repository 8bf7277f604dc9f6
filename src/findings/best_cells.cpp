#include "src/findings/best_cells.hpp"

#include <algorithm>
#include <cmath>

#include "src/findings/headlines.hpp"
#include "src/findings/speed_findings.hpp"

namespace pardec {

namespace {

bool may_be_best(const Comparison& comparison, const ArmFinding& arm) {
  const QualityShown quality = quality_shown(comparison, arm);
  return arm.blocks > 0 && !arm.broken() &&
         (quality == QualityShown::baseline || quality == QualityShown::same ||
          quality == QualityShown::not_worse);
}

/// Whether more examples might show the answers to be not worse.
bool is_undecided(const Comparison& comparison, const ArmFinding& arm) {
  const QualityShown quality = quality_shown(comparison, arm);
  return arm.blocks > 0 && (quality == QualityShown::open || quality == QualityShown::unknown);
}

}  // namespace

std::vector<BestCell> best_cells(const Measurements& measured, const Comparison& comparison) {
  std::vector<BestCell> found;
  for (const ArmFinding& first : comparison.arms) {
    const std::string& dataset = first.run.run.dataset.name;
    if (std::any_of(found.begin(), found.end(),
                    [&](const BestCell& cell) { return cell.dataset == dataset; }))
      continue;
    std::vector<const ArmFinding*> arms;
    for (const ArmFinding& arm : comparison.arms)
      if (arm.run.run.dataset.name == dataset && may_be_best(comparison, arm)) arms.push_back(&arm);
    if (arms.empty()) continue;
    const auto measured_of = [&](const ArmFinding& arm) {
      const auto index = static_cast<size_t>(&arm - comparison.arms.data());
      return MeasuredRun{arm.run.run, measured.figures.runs[index].measured};
    };
    const auto seconds_over = [&](const ArmFinding& other, const ArmFinding& arm) {
      return speedup_of(measured_of(other), measured_of(arm), comparison.confidence);
    };
    BestCell cell{.dataset = dataset, .best = arms.front(), .ties = {}, .undecided = {}};
    for (const ArmFinding* arm : arms)
      if (const auto faster = arm == cell.best ? std::nullopt : seconds_over(*cell.best, *arm);
          faster && faster->ratio.estimate > 1)
        cell.best = arm;
    for (const ArmFinding* arm : arms) {
      if (arm == cell.best) continue;
      const auto ratio = seconds_over(*arm, *cell.best);
      if (ratio && ratio->ratio.low > 1)
        ++cell.slower;
      else if (ratio)
        cell.ties.push_back({arm, ratio->ratio});
    }
    std::stable_sort(cell.ties.begin(), cell.ties.end(),
                     [](const BestCell::Tie& a, const BestCell::Tie& b) {
                       return a.ratio.estimate < b.ratio.estimate;
                     });
    for (const ArmFinding& arm : comparison.arms)
      if (arm.run.run.dataset.name == dataset && is_undecided(comparison, arm)) {
        const auto ratio = seconds_over(arm, *cell.best);
        if (ratio && !(ratio->ratio.low > 1)) cell.undecided.push_back(&arm);
      }
    found.push_back(std::move(cell));
  }
  return found;
}

}  // namespace pardec
