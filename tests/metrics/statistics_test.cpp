#include "metrics/statistics.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr int kTrials = 2000;

/// Blocks whose true ratio of totals is 2. Their contents differ, and so does what the method makes
/// of them; each of `repeats` measurements has noise, one in twenty is disturbed and takes up to
/// several times as long.
std::vector<BlockPair> draw_blocks(Rng& rng, int count, int repeats, double noise) {
  const auto lognormal = [&](double sigma) {
    return std::exp(sigma * rng.normal() - sigma * sigma / 2);
  };
  const auto measured = [&](double seconds) {
    double sum = 0;
    for (int r = 0; r < repeats; ++r)
      sum +=
          seconds * lognormal(noise) * (rng.uniform() < 0.05 ? 1 - std::log(1 - rng.uniform()) : 1);
    return sum;
  };
  std::vector<BlockPair> blocks;
  for (int i = 0; i < count; ++i) {
    const double work = lognormal(0.4);
    blocks.push_back({measured(2 * work), measured(work * lognormal(0.1))});
  }
  return blocks;
}

/// Two arms on the same clusters of one to six samples of several values, right by chance: a
/// cluster is easy or hard for both, the method is right in .05 more.
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

/// How often `interval` of a trial covers `truth`, in %.
double coverage(double truth, const std::function<Interval(Rng&)>& interval) {
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Rng rng(derive_seed(11, std::to_string(trial)));
    const Interval found = interval(rng);
    covered += found.low <= truth && truth <= found.high;
  }
  return 100.0 * covered / kTrials;
}

double width(const Interval& interval) { return interval.high - interval.low; }

}  // namespace

TEST_CASE("ratio of totals weighs blocks by their cost", "[metrics]") {
  const std::vector<BlockPair> blocks = {{10, 1}, {1, 1}};
  CHECK(ratio_of_totals(blocks).estimate == 5.5);
  CHECK(geometric_mean_ratio(blocks) == Approx(std::sqrt(10.0)).epsilon(1e-14));
  CHECK(median_ratio(blocks) == 5.5);
}

TEST_CASE("an interval holds its estimate, and is wider with more noise and more confidence",
          "[metrics]") {
  Rng rng(3);
  const auto calm = draw_blocks(rng, 30, 1, 0.02), wild = draw_blocks(rng, 30, 1, 0.8);
  for (const auto& blocks : {calm, wild}) {
    const Interval interval = ratio_of_totals(blocks);
    CHECK(interval.low < interval.estimate);
    CHECK(interval.estimate < interval.high);
  }
  CHECK(width(ratio_of_totals(wild)) > 2 * width(ratio_of_totals(calm)));
  CHECK(width(ratio_of_totals(wild, 0.99)) > 1.2 * width(ratio_of_totals(wild, 0.9)));
}

TEST_CASE("blocks are paired: equal ratios of unequal blocks have no spread", "[metrics]") {
  std::vector<BlockPair> blocks;
  for (int i = 1; i <= 20; ++i) blocks.push_back({3.0 * i * i, 1.0 * i * i});
  const Interval interval = ratio_of_totals(blocks);
  CHECK(interval.estimate == 3);
  CHECK(interval.low == Approx(3).epsilon(1e-12));
  CHECK(interval.high == Approx(3).epsilon(1e-12));
}

TEST_CASE("one block or cluster has no interval, none no estimate", "[metrics]") {
  const std::vector<BlockPair> one = {{3, 2}};
  CHECK(ratio_of_totals(one).estimate == 1.5);
  CHECK(std::isnan(ratio_of_totals(one).low));
  const std::vector<ScorePart> before = {{0, 0, 1, 4}}, after = {{0, 0, 3, 4}};
  CHECK(score_intervals(before, after, 1).difference.estimate == 0.5);
  CHECK(std::isnan(score_intervals(before, after, 1).difference.high));
  CHECK(score_intervals(before, after, 1).method.estimate == 0.75);
  CHECK(std::isnan(ratio_of_totals({}).estimate));
  CHECK(std::isnan(ratio_of_totals({}).low));
  CHECK(std::isnan(score_intervals({}, {}, 0).difference.high));
  CHECK(std::isnan(score_intervals({}, after, 1).difference.estimate));
  CHECK(std::isnan(geometric_mean_ratio({})));
  CHECK(std::isnan(median_ratio({})));
}

TEST_CASE("the interval of a ratio is Student's of the logarithm, by leaving blocks out",
          "[metrics]") {
  const std::vector<BlockPair> blocks = {{10, 4}, {8, 5}, {12, 5}};
  const double all = std::log(30.0 / 14);
  const std::vector<double> without = {std::log(20.0 / 10), std::log(22.0 / 9), std::log(18.0 / 9)};
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  const double half = 4.302652729911275 * std::sqrt(squares * 2 / 3);  // t of 2 degrees, table
  const Interval interval = ratio_of_totals(blocks);
  CHECK(interval.low == Approx(std::exp(all - half)).epsilon(1e-10));
  CHECK(interval.high == Approx(std::exp(all + half)).epsilon(1e-10));
}

TEST_CASE("quantiles of Student's t are those of printed tables", "[metrics]") {
  for (const auto& [p, degrees, t] : std::vector<std::array<double, 3>>{{0.975, 1, 12.706},
                                                                        {0.975, 5, 2.571},
                                                                        {0.975, 11, 2.201},
                                                                        {0.975, 59, 2.001},
                                                                        {0.95, 5, 2.015},
                                                                        {0.995, 10, 3.169},
                                                                        {0.9, 3, 1.638},
                                                                        {0.975, 1000, 1.962},
                                                                        {0.9995, 4, 8.610},
                                                                        {0.75, 2, 0.816}}) {
    INFO(p << " " << degrees);
    CHECK(student_t_quantile(p, degrees) == Approx(t).margin(0.0006));
    CHECK(student_t_quantile(1 - p, degrees) == Approx(-t).margin(0.0006));
  }
  CHECK(student_t_quantile(0.975, 1e7) == Approx(1.959964).margin(1e-5));  // the normal curve's
}

TEST_CASE("95 % intervals of a ratio cover the truth that often, with outliers and repeats",
          "[metrics]") {
  for (const int repeats : {1, 3})
    for (const int blocks : {6, 12, 60}) {
      const double covered = coverage(
          2, [&](Rng& rng) { return ratio_of_totals(draw_blocks(rng, blocks, repeats, 0.05)); });
      INFO(blocks << " blocks, " << repeats << " repeats: " << covered << " %");
      CHECK(covered >= 93);
      CHECK(covered <= 97);
    }
}

TEST_CASE("score differences are means over samples", "[metrics]") {
  const std::vector<ScorePart> before = {{0, 0, 1, 4}, {1, 0, 0, 1}},
                               after = {{0, 0, 2, 4}, {1, 0, 1, 1}};
  CHECK(score_intervals(before, after, 2).difference.estimate ==
        Approx(2.0 / 5).epsilon(1e-15));  // not (1/4 + 1) / 2
}

TEST_CASE("95 % intervals of a score's difference cover the truth that often", "[metrics]") {
  for (const int clusters : {6, 12, 60}) {
    const double covered = coverage(0.05, [&](Rng& rng) {
      const PairedScores scores = draw_clusters(rng, clusters);
      return score_intervals(scores.baseline, scores.method, clusters).difference;
    });
    INFO(clusters << " clusters: " << covered << " %");
    CHECK(covered >= 93);
    CHECK(covered <= 97);
  }
}

TEST_CASE("leaving a cluster out takes its parts from every group", "[metrics]") {
  // Group 1 is cluster 2's alone: without it one group is left.
  const std::vector<ScorePart> parts = {{0, 0, 1, 2}, {1, 0, 2, 2}, {2, 0, 0, 1}, {2, 1, 1, 1}};
  const double all = (3.0 / 5 + 1) / 2;
  const std::vector<double> without = {(2.0 / 3 + 1) / 2, (1.0 / 3 + 1) / 2, 3.0 / 4};
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  const Interval method = score_intervals({}, parts, 3).method;
  CHECK(method.estimate == Approx(all).epsilon(1e-14));
  CHECK(method.high == Approx(all + 4.302652729911275 * std::sqrt(squares * 2 / 3)).epsilon(1e-10));
}

TEST_CASE("a score of groups is the mean of their ratios, without groups of nothing", "[metrics]") {
  const std::vector<ScorePart> parts = {{0, 0, 1, 2}, {1, 0, 2, 2}, {1, 1, 0, 5}, {0, 2, 0, 0}};
  CHECK(score_intervals({}, parts, 2).method.estimate == Approx((3.0 / 4 + 0.0 / 5) / 2));
}

TEST_CASE("equal answers have a difference of 0, however wide the scores spread", "[metrics]") {
  Rng rng(9);
  const PairedScores scores = draw_clusters(rng, 30);
  const ScoreIntervals same = score_intervals(scores.method, scores.method, 30);
  CHECK(same.difference.low == 0);
  CHECK(same.difference.high == 0);
  CHECK(width(same.method) > 0.1);
}

TEST_CASE("McNemar's exact test", "[metrics]") {
  CHECK(mcnemar_exact(0, 0) == 1);
  CHECK(mcnemar_exact(5, 5) == 1);
  CHECK(mcnemar_exact(0, 5) == Approx(2.0 / 32).epsilon(1e-13));
  CHECK(mcnemar_exact(2, 8) == mcnemar_exact(8, 2));
  CHECK(mcnemar_exact(2, 8) == Approx(2 * (1 + 10 + 45) / 1024.0).epsilon(1e-13));
  CHECK(mcnemar_exact(1'000'000, 1'000'000) == 1);
  CHECK(mcnemar_exact(0, 1'000'000) == 0);  // under the smallest double
  CHECK(mcnemar_exact(499'000, 501'000) ==
        Approx(0.0456).epsilon(0.01));  // the normal curve, at 2 deviations
}

TEST_CASE("Holm's adjustment", "[metrics]") {
  const std::vector<double> p = {0.04, 0.01, 0.03};
  const auto adjusted = holm(p);
  CHECK(adjusted[0] ==
        Approx(0.06).epsilon(1e-14));  // not 0.04: never under that of a smaller p-value
  CHECK(adjusted[1] == Approx(0.03).epsilon(1e-14));
  CHECK(adjusted[2] == Approx(0.06).epsilon(1e-14));
  CHECK(holm(std::vector<double>{0.9, 0.8})[0] == 1);
  CHECK(holm({}).empty());
}

TEST_CASE("quantiles interpolate", "[metrics]") {
  CHECK(quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(quantile({4, 1, 3, 2}, 0) == 1);
  CHECK(quantile({4, 1, 3, 2}, 1) == 4);
  CHECK(quantile({10, 20}, 0.25) == 12.5);
  CHECK(quantile({7}, 0.3) == 7);
}
