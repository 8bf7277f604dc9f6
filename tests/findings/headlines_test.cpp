// The headline of a dataset: only what is shown.
#include "src/findings/headlines.hpp"

#include <cmath>

#include "src/findings/warnings.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

const double kNone = std::nan("");

/// An arm whose speedup lies between these ends, and whose score difference does, too.
ArmFinding arm(const char* label, const char* decoder, const char* network, Interval speedup,
               Interval difference = {0, -0.01, 0.01}) {
  ArmFinding finding;
  finding.run.run.label = label;
  finding.run.run.decoder = decoder;
  finding.run.run.model.hash = network;
  finding.run.run.dataset.name = "oa-mine";
  finding.run.run.status = RunStatus::done;
  finding.state.answers = 10;
  ScoreFinding& score = finding.scores["f1_micro"];
  score.value = {0.5, 0.4, 0.6};
  if (speedup.estimate > 0) {
    finding.baseline = 0;
    finding.speedup = Speedup{.ratio = speedup, .blocks = 6};
    score.difference = difference;
  }
  return finding;
}

ArmFinding ar() { return arm("ar", "ar", "a", {}); }

Comparison of(std::vector<ArmFinding> arms) {
  Comparison comparison;
  comparison.margin = 0.05;
  comparison.arms = std::move(arms);
  return comparison;
}

/// The label of the arm in the only headline; empty: there is none.
std::string best_of(const Comparison& comparison) {
  const auto headlines = headlines_of(comparison);
  REQUIRE(headlines.size() == 1);
  return headlines.front().best ? headlines.front().best->run.run.label : "";
}

}  // namespace

TEST_CASE("the baseline's decoder on another network is not a faster decoder") {
  Comparison comparison = of({ar(), arm("tuned-ar", "ar", "b", {3, 2.9, 3.1})});
  CHECK(headlines_of(comparison).empty());
  comparison.arms.push_back(arm("hpd", "hpd", "b", {2, 1.9, 2.1}));
  CHECK(best_of(comparison) == "hpd");
  comparison.arms.push_back(
      arm("ar-16", "ar", "a", {2.5, 2.4, 2.6}));  // on the same network it may be
  CHECK(best_of(comparison) == "ar-16");
}

TEST_CASE("the speedup of a headline has an interval that excludes 1") {
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", {3, 1.2, 5})})) == "hpd");
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", {3, 0.9, 5})})).empty());
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", {3, kNone, kNone})})).empty());
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", {0.5, 0.4, 0.6})})).empty());
}

TEST_CASE("the answers of a headline are shown to be not worse, or are the baseline's") {
  const Interval fast{5, 4, 6};
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", fast, {-0.01, -0.04, 0.02})})) == "hpd");
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", fast, {0.02, -0.06, 0.1})})).empty());  // open
  CHECK(best_of(of({ar(), arm("hpd", "hpd", "a", fast, {-0.1, -0.12, -0.08})})).empty());
  // Equal answers show it for decoders that give the baseline's ids; for others ten are too few.
  Comparison alike = of({ar(), arm("hpd", "hpd", "a", fast, {0, -0.3, 0.3})});
  RunSummary& few = alike.arms[1].run;
  few.generations = few.compared = few.identical = 10;
  CHECK(best_of(alike).empty());
  CHECK(quality_shown(alike, alike.arms[1]) == QualityShown::open);
  Comparison same = of({ar(), arm("lookup", "prompt-lookup", "a", fast, {0, kNone, kNone})});
  CHECK(best_of(same).empty());
  RunSummary& run = same.arms[1].run;
  run.generations = run.compared = run.identical = 10;
  CHECK(best_of(same) == "lookup");
  CHECK(quality_shown(same, same.arms[1]) == QualityShown::same);
  run.identical = 9;
  CHECK(best_of(same).empty());
  run.identical = 10, run.generations = 12;  // two failed
  CHECK(best_of(same).empty());
  Comparison noise = of({ar(), arm("hpd", "hpd", "a", fast)});
  noise.arms[1].run.run.untrained = true;
  CHECK(best_of(noise).empty());
  Comparison broken = of({ar(), arm("hpd", "hpd", "a", fast)});
  broken.arms[0].state.broken = 6;
  CHECK(best_of(broken).empty());
  CHECK(quality_shown(broken, broken.arms[1]) == QualityShown::broken);
  Comparison unscored = of({ar(), arm("hpd", "hpd", "a", fast)});
  unscored.arms[1].scores.clear();
  CHECK(best_of(unscored).empty());
  Comparison forced = of({ar(), arm("hpd", "hpd", "a", fast)});
  for (ArmFinding& one : forced.arms) one.run.run.oracle = "references";
  CHECK(best_of(forced).empty());
}

TEST_CASE("the fastest of those that are shown, and those that cannot be told apart from it") {
  const Comparison comparison =
      of({ar(), arm("hpd", "hpd", "a", {4, 3.5, 4.5}), arm("hpd8", "hpd", "a", {4.2, 3.9, 4.6}),
          arm("slow", "hpd", "a", {2, 1.8, 2.2}),
          arm("open", "hpd", "a", {9, 8, 10}, {0, -0.1, 0.1})});
  const auto headlines = headlines_of(comparison);
  REQUIRE(headlines.size() == 1);
  CHECK(headlines[0].best == &comparison.arms[2]);
  CHECK(headlines[0].ties == std::vector<const ArmFinding*>{&comparison.arms[1]});
  REQUIRE(headlines[0].arms.size() == 3);
  const ArmStanding& open = headlines[0].arms[2];
  CHECK((open.arm == &comparison.arms[4] && open.quality == QualityShown::open));
  CHECK((!open.is_shown() && !open.is_ruled_out()));
}

TEST_CASE("warnings are ordered by what they invalidate") {
  Comparison comparison = of({ar(), arm("hpd", "hpd", "a", {4, 3.5, 4.5})});
  ArmFinding& first = comparison.arms[0];
  first.jobs = {1, 8};  // short_batch
  first.disturbed = first.measurements = 6;
  first.run.run.build_type = comparison.arms[1].run.run.build_type = "Release";
  ArmFinding& second = comparison.arms[1];
  second.state.hit_limit = second.state.broken = 8;
  second.run.run.untrained = true;
  second.speedup->blocks = 2;
  std::vector<std::string> codes;
  for (const Warning& warning : warnings_of(comparison)) codes.push_back(warning.code);
  CHECK(codes == std::vector<std::string>{"broken", "untrained", "hit_limit", "few_blocks",
                                          "disturbed", "short_batch"});
}
