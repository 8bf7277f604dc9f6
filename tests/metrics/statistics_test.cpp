#include "metrics/statistics.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "tests/metrics/coverage.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using pardec::test::coverage;
using pardec::test::width;

namespace {

/// Blocks whose true ratio of totals is 2. Their contents differ, and so does the method's result
/// for them. Each of the `repeats` measurements has noise. One in twenty is disturbed, and takes up
/// to several times as long.
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

}  // namespace

TEST_CASE("the ratio of totals weighs blocks by their cost", "[metrics]") {
  const std::vector<BlockPair> blocks = {{10, 1}, {1, 1}};
  CHECK(ratio_of_totals(blocks).estimate == 5.5);
  CHECK(geometric_mean_ratio(blocks) == Approx(std::sqrt(10.0)).epsilon(1e-14));
  CHECK(median_ratio(blocks) == 5.5);
}

TEST_CASE("an interval contains its estimate, and is wider with more noise and more confidence",
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

TEST_CASE("one block has no interval, no block has no estimate", "[metrics]") {
  const std::vector<BlockPair> one = {{3, 2}};
  CHECK(ratio_of_totals(one).estimate == 1.5);
  CHECK(std::isnan(ratio_of_totals(one).low));
  CHECK(std::isnan(ratio_of_totals({}).estimate));
  CHECK(std::isnan(ratio_of_totals({}).low));
  CHECK(std::isnan(geometric_mean_ratio({})));
  CHECK(std::isnan(median_ratio({})));
}

TEST_CASE("the interval of a ratio is Student's on the logarithm, by leaving blocks out",
          "[metrics]") {
  const std::vector<BlockPair> blocks = {{10, 4}, {8, 5}, {12, 5}};
  const double all = std::log(30.0 / 14);
  const std::vector<double> without = {std::log(20.0 / 10), std::log(22.0 / 9), std::log(18.0 / 9)};
  const double mean = (without[0] + without[1] + without[2]) / 3;
  double squares = 0;
  for (const double value : without) squares += (value - mean) * (value - mean);
  // The effective number of equal blocks: 1 / sum of squared shares. Student's t of 1.886 degrees
  // by scipy.stats.t.ppf.
  const double half = 4.360436733584119 * std::sqrt(squares * 2 / 3);
  const Interval interval = ratio_of_totals(blocks);
  CHECK(interval.low == Approx(std::exp(all - half)).epsilon(1e-10));
  CHECK(interval.high == Approx(std::exp(all + half)).epsilon(1e-10));
}

TEST_CASE("a few long blocks count as few", "[metrics]") {
  CHECK(effective_count(std::vector<double>{2, 2, 2}) == Approx(3));
  CHECK(effective_count(std::vector<double>{1, 1, 0}) == Approx(2));
  CHECK(effective_count(std::vector<double>{}) == 0);
  Rng rng(5);
  std::vector<BlockPair> blocks = draw_blocks(rng, 12, 1, 0.02), longer = blocks;
  for (BlockPair* block : {&longer[0], &longer[1]}) {
    block->baseline *= 100;
    block->method *= 100;
  }
  // Two blocks are nearly all of the time: Student's t of two blocks, not of twelve.
  const Interval few = ratio_of_totals(longer);
  const double least =
      std::min(longer[0].baseline / longer[0].method, longer[1].baseline / longer[1].method);
  CHECK(few.low < least);
}

TEST_CASE(
    "blocks that took one arm too long are reported, and the interval contains that of the others",
    "[metrics]") {
  std::vector<BlockPair> blocks;
  for (int i = 0; i < 12; ++i) blocks.push_back({4.0 + 0.02 * (i % 3), 1.0});
  const RobustRatio calm = robust_ratio_of_totals(blocks);
  CHECK(calm.outliers() == 0);
  CHECK(calm.ratio.low == ratio_of_totals(blocks).low);
  blocks[3].method *= 1.5;
  blocks[7].method *= 1.5;
  blocks[8].baseline *= 1.5;
  const RobustRatio found = robust_ratio_of_totals(blocks);
  CHECK(found.slow_method == 2);
  CHECK(found.slow_baseline == 1);
  CHECK(found.without_outliers.estimate == Approx(4.02).epsilon(0.005));
  CHECK(found.ratio.estimate == ratio_of_totals(blocks).estimate);  // as it was measured
  CHECK(found.ratio.low <= found.without_outliers.low);
  CHECK(found.ratio.high >= found.without_outliers.high);
  // A tenth more is no outlier, however steady the other blocks are.
  for (BlockPair& block : blocks) block = {4, 1};
  blocks[0].method = 1.08;
  CHECK(robust_ratio_of_totals(blocks).outliers() == 0);
  CHECK(std::isnan(robust_ratio_of_totals({}).ratio.low));
  CHECK(std::isnan(robust_ratio_of_totals({}).without_outliers.estimate));
}

TEST_CASE("quantiles of Student's t equal those of printed tables", "[metrics]") {
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

TEST_CASE("95 % intervals of a ratio cover the truth that often, also with outliers and repeats",
          "[metrics]") {
  for (const int repeats : {1, 3})
    for (const int blocks : {6, 12, 60}) {
      const double covered = coverage(
          2, [&](Rng& rng) { return ratio_of_totals(draw_blocks(rng, blocks, repeats, 0.05)); });
      INFO(blocks << " blocks, " << repeats << " repeats: " << covered << " %");
      CHECK(covered >= 93.5);
      CHECK(covered <= 98);
    }
}

TEST_CASE("McNemar's exact test", "[metrics]") {
  CHECK(mcnemar_exact(0, 0) == 1);
  CHECK(mcnemar_exact(5, 5) == 1);
  CHECK(mcnemar_exact(0, 5) == Approx(2.0 / 32).epsilon(1e-13));
  CHECK(mcnemar_exact(2, 8) == mcnemar_exact(8, 2));
  CHECK(mcnemar_exact(2, 8) == Approx(2 * (1 + 10 + 45) / 1024.0).epsilon(1e-13));
  CHECK(mcnemar_exact(1'000'000, 1'000'000) == 1);
  CHECK(mcnemar_exact(0, 1'000'000) == 0);  // below the smallest double
  CHECK(mcnemar_exact(499'000, 501'000) ==
        Approx(0.0456).epsilon(0.01));  // the normal curve, at 2 deviations
}

TEST_CASE("McNemar's test by cluster is the exact test of random signs", "[metrics]") {
  // All 16 choices of signs of 3, 1, 2, 5, counted by hand: sums at least 9 from 0 are +-11, +-9.
  CHECK(clustered_mcnemar(std::vector<std::int64_t>{3, -1, 2, 0, 5}) == Approx(4.0 / 16));
  CHECK(clustered_mcnemar(std::vector<std::int64_t>{2, 2, 2}) == Approx(2.0 / 8));
  CHECK(clustered_mcnemar({}) == 1);
  CHECK(clustered_mcnemar(std::vector<std::int64_t>{0, 0}) == 1);
  // One question in each cluster: McNemar's test.
  CHECK(clustered_mcnemar(std::vector<std::int64_t>{1, 1, 1, -1, 0, 1, 1}) == mcnemar_exact(5, 1));
  // Five questions of one cluster are one piece of evidence, not five.
  CHECK(clustered_mcnemar(std::vector<std::int64_t>{5, 5}) == 0.5);
  // Beyond the reach of the exact test, the normal curve: two deviations.
  std::vector<std::int64_t> many(10'000, 3);
  for (size_t i = 0; i < 4900; ++i) many[i] = -3;
  CHECK(clustered_mcnemar(many) == Approx(0.0455).epsilon(0.01));
}

TEST_CASE("Holm's adjustment", "[metrics]") {
  const std::vector<double> p = {0.04, 0.01, 0.03};
  const auto adjusted = holm(p);
  CHECK(adjusted[0] ==
        Approx(0.06).epsilon(1e-14));  // not 0.04: never below that of a smaller p-value
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

TEST_CASE("a density is that of scipy's gaussian_kde", "[metrics]") {
  const std::vector<double> two{0, 2}, four{1, 2, 4, 9};
  const std::vector<double> at_two = kernel_density(two, std::vector<double>{1, 0});
  REQUIRE(at_two.size() == 2);
  CHECK(at_two[0] == Approx(0.23299001857548163).epsilon(1e-12));
  CHECK(at_two[1] == Approx(0.20532372038914984).epsilon(1e-12));
  CHECK(kernel_density(four, std::vector<double>{3}).at(0) ==
        Approx(0.10024566597076286).epsilon(1e-12));
  CHECK(kernel_density(std::vector<double>{5, 5}, four).empty());
  CHECK(kernel_density({}, four).empty());
}
