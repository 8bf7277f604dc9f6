#include "metrics/score_intervals.hpp"

#include <cmath>
#include <vector>

#include "tests/metrics/coverage.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using pardec::test::coverage;
using pardec::test::width;

namespace {

/// Two arms on the same clusters of one to six samples with several values, right by chance. A
/// cluster is easy or hard for both arms; the method is right in .05 more.
struct PairedScores {
  std::vector<ScorePart> baseline, method;
};
PairedScores draw_clusters(Rng& rng, int count) {
  PairedScores scores;
  for (int i = 0; i < count; ++i) {
    const auto values = static_cast<int>(6 * (1 + rng.below(4)));
    const double ease = 0.3 + 0.5 * rng.uniform();
    double before = 0, after = 0;
    for (int v = 0; v < values; ++v) {
      const double luck = rng.uniform();  // most values are right or wrong for both
      before += luck < ease;
      after += (rng.uniform() < 0.8 ? luck : rng.uniform()) < ease + 0.05;
    }
    const double size = values;
    scores.baseline.push_back({i, 0, before, size});
    scores.method.push_back({i, 0, after, size});
  }
  return scores;
}

}  // namespace

TEST_CASE("score differences are means over samples", "[metrics]") {
  const std::vector<ScorePart> before = {{0, 0, 1, 4}, {1, 0, 0, 1}},
                               after = {{0, 0, 2, 4}, {1, 0, 1, 1}};
  CHECK(score_intervals(before, after, 2).difference.estimate ==
        Approx(2.0 / 5).epsilon(1e-15));  // not (1/4 + 1) / 2
}

TEST_CASE("95 % intervals of a score's difference cover the truth at least that often",
          "[metrics]") {
  for (const int clusters : {6, 12, 60}) {
    const double covered = coverage(0.05, [&](Rng& rng) {
      const PairedScores scores = draw_clusters(rng, clusters);
      return score_intervals(scores.baseline, scores.method, clusters).difference;
    });
    INFO(clusters << " clusters: " << covered << " %");
    CHECK(covered >= 95);
  }
}

TEST_CASE("leaving out a cluster removes its parts from every group", "[metrics]") {
  // Group 1 belongs only to cluster 2: without it one group is left.
  const std::vector<ScorePart> parts = {{0, 0, 1, 2}, {1, 0, 2, 2}, {2, 0, 0, 1}, {2, 1, 1, 1}};
  const double all = (3.0 / 5 + 1) / 2;
  const std::vector<double> without = {(2.0 / 3 + 1) / 2, (1.0 / 3 + 1) / 2, 3.0 / 4};
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  const Interval method = score_intervals({}, parts, 3, std::nullopt).method;
  CHECK(method.estimate == Approx(all).epsilon(1e-14));
  CHECK(method.high == Approx(all + 7.777848211118755 * std::sqrt(squares * 2 / 3)).epsilon(1e-10));
}

TEST_CASE("a score of groups is the mean of their ratios, without empty groups", "[metrics]") {
  const std::vector<ScorePart> parts = {{0, 0, 1, 2}, {1, 0, 2, 2}, {1, 1, 0, 5}, {0, 2, 0, 0}};
  CHECK(score_intervals({}, parts, 2).method.estimate == Approx((3.0 / 4 + 0.0 / 5) / 2));
}

TEST_CASE("equal answers have a difference of 0, with an interval that narrows as 4 / n",
          "[metrics]") {
  for (const int n : {6, 12, 60, 72, 100, 300}) {
    std::vector<ScorePart> parts;
    for (int i = 0; i < n; ++i) parts.push_back({i, 0, 1, 1});
    const ScoreIntervals same = score_intervals(parts, parts, n);
    const double t = student_t_quantile(0.975, n - 1), least = t * t / (n + t * t);
    INFO(n);
    CHECK(same.difference.estimate == 0);
    CHECK(same.difference.low == Approx(-least).epsilon(1e-6));
    CHECK(same.difference.high == Approx(least).epsilon(1e-6));
    CHECK(same.method.low == Approx(1 - least).epsilon(1e-6));  // Wilson's, of n of n
    CHECK(same.method.high == 1);
    CHECK((same.difference.low > -0.05) == (n > 75));
    CHECK(same.differences->clusters_above(-0.05) == 76);
  }
  Rng rng(9);
  const PairedScores scores = draw_clusters(rng, 30);
  CHECK(width(score_intervals(scores.method, scores.method, 30).method) > 0.1);
  // For quantities that are not scores, the largest possible difference is unknown.
  CHECK(width(score_intervals(scores.method, scores.method, 30, std::nullopt).difference) == 0);
}

TEST_CASE("unobserved answers are weighted by the range of a score", "[metrics]") {
  std::vector<ScorePart> grades;
  for (int i = 0; i < 20; ++i) grades.push_back({i, 0, 7, 1});
  const ScoreIntervals of_grades = score_intervals(grades, grades, 20, ScoreRange{1, 10});
  for (ScorePart& part : grades) part.numerator = 0.7;
  const ScoreIntervals of_shares = score_intervals(grades, grades, 20);
  CHECK(of_grades.difference.low == Approx(9 * of_shares.difference.low).epsilon(1e-6));
  CHECK(of_grades.method.low < 7);
  CHECK(of_grades.method.high < 10);
  // Without a range, the spread of the observed values.
  CHECK(std::isnan(score_intervals({}, grades, 20, kNoRange).method.low));
}

TEST_CASE("long clusters count as few", "[metrics]") {
  std::vector<ScorePart> even, uneven;
  for (int i = 0; i < 100; ++i) {
    even.push_back({i, 0, 1, 1});
    const double size = i < 4 ? 100 : 1;
    uneven.push_back({i, 0, size, size});
  }
  CHECK(score_intervals(even, even, 100).difference.low > -0.05);
  CHECK(score_intervals(uneven, uneven, 100).difference.low < -0.35);
  CHECK(score_intervals(uneven, uneven, 100).differences->effective() < 7);
}

TEST_CASE(
    "a ratio of scores is Student's on the logarithm, and no more certain than the difference",
    "[metrics]") {
  std::vector<ScorePart> before, after;
  for (int i = 0; i < 40; ++i) {
    before.push_back({i, 0, i % 2 ? 1.0 : 0.0, 1});
    after.push_back({i, 0, i % 2 || i == 0 ? 1.0 : 0.0, 1});
  }
  const ScoreIntervals found = score_intervals(before, after, 40);
  CHECK(found.ratio.estimate == Approx(21.0 / 20));
  CHECK(found.ratio.low <= 1 + found.difference.low / 0.5 + 1e-9);
  CHECK(found.ratio.high >= 1 + found.differences->interval().high / 0.5 - 1e-9);
  CHECK(std::isnan(score_intervals({}, after, 40).ratio.low));
}

TEST_CASE("one cluster has no interval", "[metrics]") {
  const std::vector<ScorePart> before = {{0, 0, 1, 4}}, after = {{0, 0, 3, 4}};
  CHECK(score_intervals(before, after, 1).difference.estimate == 0.5);
  CHECK(std::isnan(score_intervals(before, after, 1).difference.high));
  CHECK(score_intervals(before, after, 1).method.estimate == 0.75);
  CHECK(std::isnan(score_intervals({}, {}, 0).difference.high));
  CHECK(std::isnan(score_intervals({}, after, 1).difference.estimate));
}

TEST_CASE("200,000 clusters in classes of equal values have the interval of all of them",
          "[metrics]") {
  Rng rng(4);
  std::vector<ScorePart> before, after;
  for (int i = 0; i < 200'000; ++i) {
    before.push_back({i, 0, rng.uniform(), 1});
    after.push_back({i, 0, rng.uniform(), 1});
  }
  const ScoreIntervals found = score_intervals(before, after, 200'000);
  const double student = width(score_intervals(before, after, 200'000, std::nullopt).difference);
  CHECK(width(found.difference) == Approx(student).epsilon(0.01));
}
