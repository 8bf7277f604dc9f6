#include "src/findings/headlines.hpp"

#include <algorithm>
#include <cmath>

#include "src/findings/score_findings.hpp"

namespace pardec {

namespace {

Headline& of_dataset(std::vector<Headline>& headlines, const std::string& dataset) {
  for (Headline& headline : headlines)
    if (headline.dataset == dataset) return headline;
  headlines.push_back({.dataset = dataset});
  return headlines.back();
}

/// AR on other weights is no faster decoder: its answers are longer or shorter, and that is all.
bool only_another_network(const ArmFinding& arm, const ArmFinding& baseline) {
  return arm.run.run.decoder == baseline.run.run.decoder &&
         arm.run.run.model.hash != baseline.run.run.model.hash;
}

}  // namespace

bool shown_worse(const ArmFinding& arm, const ArmFinding& baseline) {
  if (arm.run.run.untrained != baseline.run.run.untrained) return true;
  const auto score = arm.scores.find(headline_score(arm));
  return !arm.run.run.untrained && score != arm.scores.end() &&
         score->second.verdict(0) == ScoreFinding::Verdict::worse;
}

std::vector<Headline> headlines_of(const Comparison& comparison) {
  std::vector<Headline> headlines;
  for (const ArmFinding& arm : comparison.arms) {
    const ArmFinding* baseline = comparison.baseline_of(arm);
    if (!baseline || only_another_network(arm, *baseline)) continue;
    Headline& headline = of_dataset(headlines, arm.run.run.dataset.name);
    auto& broken = headline.broken;
    for (const ArmFinding* one : {baseline, &arm})
      if (one->broken() &&
          std::find(broken.begin(), broken.end(), one->run.run.label) == broken.end())
        broken.push_back(one->run.run.label);
    if (baseline->broken() || arm.broken() || !arm.speedup ||
        !std::isfinite(arm.speedup->ratio.estimate))
      continue;
    if (shown_worse(arm, *baseline))
      headline.worse = true;
    else if (!headline.best || arm.speedup->ratio.estimate > headline.best->speedup->ratio.estimate)
      headline.best = &arm;
  }
  return headlines;
}

}  // namespace pardec
