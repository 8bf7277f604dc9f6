#include "src/findings/headlines.hpp"

#include <algorithm>
#include <cmath>

#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"

namespace pardec {

namespace {

Headline& of_dataset(std::vector<Headline>& headlines, const std::string& dataset) {
  for (Headline& headline : headlines)
    if (headline.dataset == dataset) return headline;
  headlines.push_back({.dataset = dataset});
  return headlines.back();
}

/// An arm with the baseline's decoder on another network is not a faster decoder: the network and
/// the length of its answers differ. A service is not one either: its program, machine and clock
/// differ.
bool only_another_network(const ArmFinding& arm, const ArmFinding& baseline) {
  return (arm.run.run.decoder == baseline.run.run.decoder &&
          arm.run.run.model.hash != baseline.run.run.model.hash) ||
         arm.run.run.device == kService;
}

/// Compares arms with the same baseline by speedup, which pairs blocks; other arms by examples per
/// second.
bool is_faster(const ArmFinding& arm, const ArmFinding& than) {
  if (arm.baseline == than.baseline)
    return arm.speedup->ratio.estimate > than.speedup->ratio.estimate;
  return arm.examples_per_second.estimate > than.examples_per_second.estimate;
}

}  // namespace

SpeedShown speed_shown(const ArmFinding& arm) {
  if (!arm.speedup || !std::isfinite(arm.speedup->ratio.low) ||
      !std::isfinite(arm.speedup->ratio.high))
    return SpeedShown::unknown;
  const Interval& ratio = arm.speedup->ratio;
  return ratio.low > 1    ? SpeedShown::faster
         : ratio.high < 1 ? SpeedShown::slower
                          : SpeedShown::open;
}

const ScoreFinding* first_score(const ArmFinding& arm) {
  const auto score = arm.scores.find(headline_score(arm));
  return score == arm.scores.end() ? nullptr : &score->second;
}

QualityShown quality_shown(const Overview& comparison, const ArmFinding& arm) {
  const ArmFinding* baseline = comparison.baseline_of(arm);
  if (!baseline) return QualityShown::baseline;
  if (comparison.is_broken(arm)) return QualityShown::broken;
  // Decoders that generate the baseline's ids are not worse, whatever the number of examples.
  if (gave_same_answers(arm.run, baseline->run.run)) return QualityShown::same;
  if (arm.run.run.untrained || baseline->run.run.untrained) return QualityShown::noise;
  const ScoreFinding* score = first_score(arm);
  if (!score || !score->difference || arm.run.run.oracle) return QualityShown::unknown;
  switch (score->verdict(comparison.margin)) {
    case ScoreFinding::Verdict::not_worse:
      return QualityShown::not_worse;
    case ScoreFinding::Verdict::worse:
      return QualityShown::worse;
    case ScoreFinding::Verdict::open:
      break;
  }
  return QualityShown::open;
}

bool ArmStanding::is_shown() const {
  return speed == SpeedShown::faster &&
         (quality == QualityShown::same || quality == QualityShown::not_worse);
}

bool ArmStanding::is_ruled_out() const {
  return speed == SpeedShown::slower || quality == QualityShown::worse ||
         quality == QualityShown::noise || quality == QualityShown::broken;
}

std::vector<Headline> headlines_of(const Overview& comparison) {
  std::vector<Headline> headlines;
  for (const ArmFinding& arm : comparison.arms) {
    const ArmFinding* baseline = comparison.baseline_of(arm);
    if (!baseline || only_another_network(arm, *baseline)) continue;
    Headline& headline = of_dataset(headlines, arm.run.run.dataset.name);
    headline.arms.push_back({&arm, speed_shown(arm), quality_shown(comparison, arm)});
    if (headline.arms.back().is_shown() && (!headline.best || is_faster(arm, *headline.best)))
      headline.best = &arm;
  }
  for (Headline& headline : headlines) {
    if (!headline.best) continue;
    for (const ArmStanding& one : headline.arms)
      if (one.arm != headline.best && one.is_shown() &&
          one.arm->baseline == headline.best->baseline &&
          one.arm->speedup->ratio.high >= headline.best->speedup->ratio.low)
        headline.ties.push_back(one.arm);
    std::erase_if(headline.arms, [&](const ArmStanding& one) { return one.arm == headline.best; });
  }
  return headlines;
}

}  // namespace pardec
