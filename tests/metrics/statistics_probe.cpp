// statistics_probe < calls
// Each line is a JSON object, {"call": NAME, arguments}; each answer is a line with a JSON value.
#include <string>

#include "metrics/score_intervals.hpp"
#include "metrics/statistics.hpp"
#include "src/support/json.hpp"
#include "tests/metrics/probe.hpp"

namespace {

using namespace pardec;

Json ends(const Interval& interval) { return {interval.low, interval.high}; }

/// Clusters of one answer each, whose scores are given for both arms.
ScoreIntervals intervals_of(const Json& request) {
  std::vector<ScorePart> before, after;
  for (const auto& pair : request.at("pairs")) {
    const auto cluster = static_cast<std::int32_t>(before.size());
    before.push_back({cluster, 0, pair.at(0), 1});
    after.push_back({cluster, 0, pair.at(1), 1});
  }
  return score_intervals(before, after, static_cast<std::int32_t>(before.size()));
}

Json answer(const Json& request) {
  const auto call = request.at("call").get<std::string>();
  if (call == "quantile") return quantile(request.at("samples"), request.at("q"));
  if (call == "mcnemar") return mcnemar_exact(request.at("b"), request.at("c"));
  if (call == "holm") return holm(request.at("p").get<std::vector<double>>());
  if (call == "clustered_mcnemar")
    return clustered_mcnemar(request.at("differences").get<std::vector<std::int64_t>>());
  if (call == "tango") return ends(intervals_of(request).differences->interval());
  if (call == "difference") return ends(intervals_of(request).difference);
  if (call == "level") return ends(intervals_of(request).method);
  if (call == "random_effects") {
    std::vector<EffectSize> effects;
    for (const auto& one : request.at("effects")) effects.push_back({one.at(0), one.at(1)});
    const RandomEffects found = random_effects(effects);
    return {found.mean.estimate, found.mean.low, found.mean.high, found.between};
  }
  std::vector<BlockPair> blocks;
  for (const auto& block : request.at("blocks")) blocks.push_back({block.at(0), block.at(1)});
  if (call == "geometric_mean") return geometric_mean_ratio(blocks);
  if (call == "median") return median_ratio(blocks);
  if (call == "ratio_ends") return ends(ratio_of_totals(blocks));
  return ratio_of_totals(blocks).estimate;
}

}  // namespace

int main() { return test::answer_lines(answer); }
