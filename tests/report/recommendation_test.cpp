// Which arm to take, in words.
#include "src/report/recommendation.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

ArmFinding arm(const char* label, Interval speedup, Interval difference,
               std::optional<std::int64_t> would_do = {}) {
  ArmFinding finding;
  finding.run.run.label = finding.run.run.decoder = label;
  finding.run.run.dataset.name = "oa-mine";
  finding.state.answers = 10;
  ScoreFinding& score = finding.scores["f1_micro"];
  if (speedup.estimate == 0) return finding;
  finding.baseline = 0;
  finding.speedup = Speedup{.ratio = speedup, .blocks = 6};
  score.difference = difference;
  score.would_do = would_do;
  return finding;
}

}  // namespace

TEST_CASE("a recommendation says which arm to take, why, and what is undecided") {
  Comparison comparison;
  comparison.margin = 0.05;
  comparison.arms = {arm("ar", {}, {}), arm("hpd", {4.8, 4.5, 5.1}, {-0.004, -0.02, 0.01}),
                     arm("space", {6, 5, 7}, {0, -0.1, 0.1}, 75),
                     arm("ippd", {1, 0.9, 1.1}, {0, -0.01, 0.01}),
                     arm("apar", {3, 2, 4}, {-0.3, -0.4, -0.2})};
  comparison.warnings = {{"disturbed", "oa-mine", "hpd", "", ""},
                         {"broken", "squad", "hpd", "", ""}};
  auto all = recommendations(comparison);
  REQUIRE(all.size() == 1);
  CHECK(all[0].take == "hpd");
  CHECK(all[0].text() ==
        "Of these, on this machine, for oa-mine: take hpd: 4.80 times as fast as ar [4.50, 5.10], "
        "answers not worse: F1 micro -0.004 [-0.020, +0.010]. Mind the warnings: disturbed. Not "
        "decided: space (6.00 times as fast, needs about 75 examples in all); ippd (no "
        "difference in speed shown: 1.00 [0.90, 1.10]). Ruled out: apar (answers worse).");
  CHECK(verdict_text(comparison, comparison.arms[2]) == "open: needs about 75 in all");
  comparison.arms[1].scores["f1_micro"].difference = Interval{0, -0.2, 0.2};
  all = recommendations(comparison);
  CHECK(all[0].take.empty());
  CHECK_THAT(all[0].text(), Catch::Contains("stay with ar: no arm is shown faster"));
  CHECK_THAT(all[0].text(), Catch::Contains("hpd (4.80 times as fast, needs more examples)"));
  comparison.arms[0].state.broken = 10;
  CHECK_THAT(recommendations(comparison)[0].text(),
             Catch::Contains("no decision: most answers of ar are broken"));
}
