#include "metrics/statistics.hpp"

#include <cmath>
#include <vector>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr int kExperiments = 300;

/// Blocks whose true ratio of totals is 2: the baseline takes twice the work of the block, each arm
/// with noise of mean 1.
std::vector<BlockPair> draw_blocks(Rng& rng, int count, double noise) {
  const auto factor = [&] { return std::exp(noise * rng.normal() - noise * noise / 2); };
  std::vector<BlockPair> blocks;
  for (int i = 0; i < count; ++i) {
    const double work = 1 + 9 * rng.uniform();
    blocks.push_back({2 * work * factor(), work * factor()});
  }
  return blocks;
}

/// Clusters of one to six samples that are right or wrong; the method is right with probability
/// 0.6, the baseline 0.5, and all samples of a cluster share their luck, so that they are far from
/// independent.
/// Two arms on the same clusters, all of whose samples are right, or none.
struct PairedScores {
  std::vector<ScorePart> baseline, method;
};
PairedScores draw_clusters(Rng& rng, int count) {
  PairedScores scores;
  for (int i = 0; i < count; ++i) {
    const auto size = static_cast<double>(1 + rng.below(6));
    scores.baseline.push_back({i, 0, rng.uniform() < 0.5 ? size : 0, size});
    scores.method.push_back({i, 0, rng.uniform() < 0.6 ? size : 0, size});
  }
  return scores;
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
  const auto calm = draw_blocks(rng, 30, 0.02), wild = draw_blocks(rng, 30, 0.4);
  for (const auto& blocks : {calm, wild}) {
    const Interval interval = ratio_of_totals(blocks);
    CHECK(interval.low < interval.estimate);
    CHECK(interval.estimate < interval.high);
  }
  CHECK(width(ratio_of_totals(wild)) > 5 * width(ratio_of_totals(calm)));
  CHECK(width(ratio_of_totals(wild, 0.99)) > 1.2 * width(ratio_of_totals(wild, 0.9)));
}

TEST_CASE("the bootstrap is paired: equal ratios of unequal blocks have no spread", "[metrics]") {
  std::vector<BlockPair> blocks;
  for (int i = 1; i <= 20; ++i) blocks.push_back({3.0 * i * i, 1.0 * i * i});
  const Interval interval = ratio_of_totals(blocks);
  CHECK(interval.estimate == 3);
  CHECK(interval.low == 3);
  CHECK(interval.high == 3);
}

TEST_CASE("one block or cluster is its own interval, none is NaN", "[metrics]") {
  const std::vector<BlockPair> one = {{3, 2}};
  CHECK(ratio_of_totals(one).low == 1.5);
  CHECK(ratio_of_totals(one).high == 1.5);
  const std::vector<ScorePart> before = {{0, 0, 1, 4}}, after = {{0, 0, 3, 4}};
  CHECK(score_intervals(before, after, 1).difference.low == 0.5);
  CHECK(score_intervals(before, after, 1).difference.high == 0.5);
  CHECK(score_intervals(before, after, 1).method.low == 0.75);
  CHECK(std::isnan(ratio_of_totals({}).estimate));
  CHECK(std::isnan(ratio_of_totals({}).low));
  CHECK(std::isnan(score_intervals({}, {}, 0).difference.high));
  CHECK(std::isnan(score_intervals({}, after, 1).difference.estimate));
  CHECK(std::isnan(geometric_mean_ratio({})));
  CHECK(std::isnan(median_ratio({})));
}

TEST_CASE("the same seed gives the same interval, another a slightly different one", "[metrics]") {
  Rng rng(4);
  const auto blocks = draw_blocks(rng, 25, 0.3);
  const Interval a = ratio_of_totals(blocks), b = ratio_of_totals(blocks),
                 c = ratio_of_totals(blocks, 0.95, 10000, 2);
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
  CHECK(a.low != c.low);
  CHECK(std::abs(a.low - c.low) < 0.1 * width(a));
}

TEST_CASE("the 95 % interval of a ratio covers the truth that often", "[metrics]") {
  int covered = 0;
  for (int experiment = 0; experiment < kExperiments; ++experiment) {
    Rng rng(derive_seed(11, std::to_string(experiment)));
    const Interval interval = ratio_of_totals(draw_blocks(rng, 40, 0.3), 0.95, 1000, 1);
    covered += interval.low <= 2 && 2 <= interval.high;
  }
  INFO(covered << " of " << kExperiments);
  CHECK(covered >= 0.90 * kExperiments);
  CHECK(covered <= 0.99 * kExperiments);
}

TEST_CASE("score differences are means over samples, and their interval respects clusters",
          "[metrics]") {
  const std::vector<ScorePart> before = {{0, 0, 1, 4}, {1, 0, 0, 1}},
                               after = {{0, 0, 2, 4}, {1, 0, 1, 1}};
  CHECK(score_intervals(before, after, 2).difference.estimate ==
        Approx(2.0 / 5).epsilon(1e-15));  // not (1/4 + 1) / 2

  int covered = 0;
  for (int experiment = 0; experiment < kExperiments; ++experiment) {
    Rng rng(derive_seed(12, std::to_string(experiment)));
    const PairedScores scores = draw_clusters(rng, 60);
    const Interval interval =
        score_intervals(scores.baseline, scores.method, 60, 0.95, 1000, 1).difference;
    covered += interval.low <= 0.1 && 0.1 <= interval.high;
  }
  INFO(covered << " of " << kExperiments);
  CHECK(covered >= 0.90 * kExperiments);
  CHECK(covered <= 0.99 * kExperiments);
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
