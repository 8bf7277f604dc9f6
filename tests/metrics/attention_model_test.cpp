// The IPPD paper's Table 3 and factors: by hand, from its Table 1, and against a slow count of
// queries and keys.
#include "metrics/attention_model.hpp"

#include <cmath>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

double rounded(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

TEST_CASE("Table 3: dimensions of q and K, V") {
  // |p| = 2, |c| = 3, x = 4 and 6, 1 and 2 answer tokens so far, both open.
  const auto is = [](const AttentionSize& size, double q, double kv) {
    return size.q == q && size.kv == kv;
  };
  CHECK(is(pcpa_first_prefill(2, 3, 4), 9, 9));
  CHECK(is(pcpa_subsequent_prefill(2, 3, 6), 6, 11));
  CHECK(is(pcpa_decode(2, 3, 4, 1), 1, 10));
  CHECK(is(ippd_prefill(2, 3, 4 + 6), 15, 15));
  CHECK(is(ippd_decode(2, 3, 4 + 6, 1 + 2, 2), 2, 18));
  CHECK(ippd_decode(2, 3, 10, 3, 2).flops() == 36);
  CHECK(ippd_decode(2, 3, 10, 3, 2).accesses() == 20);
  CHECK(ippd_decode(2, 3, 10, 3, 2).intensity() == 1.8);
}

TEST_CASE("the factors of appendix A.2 at the means of Table 1") {
  const struct {
    const char* dataset;
    double m, p, c, x, y;  // Table 1
    double flop_factor, access_ratio, pcpa_prefill, ippd_prefill, pcpa_decode, ippd_decode;
  } rows[] = {
      {"NarrativeQA (5s)", 29.73, 2754, 737.45, 11.97, 5.81, 1.206, 27.073, 11.929, 1923.659, 1.0,
       29.507},
      {"SQuAD 2.0", 8.70, 47, 177.94, 12.58, 3.94, 1.982, 6.180, 11.947, 167.193, .996, 8.490},
      {"RACE", 3.51, 40, 344.30, 39.81, 1, 1.527, 2.841, 36.394, 262.017, .998, 3.487},
      {"LongHealth", 20, 73, 11719.75, 72.5, 1, 1.246, 17.920, 72.060, 6621.375, 1.0, 19.970},
  };
  for (const auto& row : rows) {
    INFO(row.dataset);
    const double sum_x = row.m * row.x, y = row.y / 2;  // y_<t: half of the mean answer
    CHECK(rounded(prefill_flop_factor(row.p, row.c, row.x, sum_x)) == row.flop_factor);
    CHECK(rounded(prefill_access_ratio(row.p, row.c, row.x, sum_x, row.m)) == row.access_ratio);
    CHECK(rounded(pcpa_subsequent_prefill(row.p, row.c, row.x).intensity()) == row.pcpa_prefill);
    CHECK(rounded(pardec::ippd_prefill(row.p, row.c, sum_x).intensity()) == row.ippd_prefill);
    CHECK(rounded(pardec::pcpa_decode(row.p, row.c, row.x, y).intensity()) == row.pcpa_decode);
    CHECK(rounded(pardec::ippd_decode(row.p, row.c, sum_x, row.m * y, row.m).intensity()) ==
          row.ippd_decode);
    CHECK(decode_flop_factor(row.p, row.c, row.x, y, sum_x, row.m * y) ==
          Approx((row.p + row.c + row.m * (row.x + y)) / (row.p + row.c + row.x + y)));
  }
}

TEST_CASE("sums over a context, by hand") {
  // |p| = 2, |c| = 3; questions of 4 and 6 tokens, answers of 3 and 1 ids.
  const CommonContext context{3, {4, 6}, {3, 1}};
  const StagedCost pcpa = pcpa_cost(2, context);
  CHECK(pcpa.prefill.flops == 9 * 9 + 6 * 11);
  CHECK(pcpa.prefill.accesses == 18 + 17);
  CHECK(pcpa.decode.flops == 10 + 11);  // y_1, then y_2 of the first
  CHECK(pcpa.decode.accesses == 11 + 12);
  const StagedCost ippd = ippd_cost(2, std::vector{context});
  CHECK(ippd.prefill.flops == 15 * 15);
  CHECK(ippd.prefill.accesses == 30);
  CHECK(ippd.decode.flops == 16 + 17);
  CHECK(ippd.decode.accesses == 17 + 18);
  CHECK(ippd.decode.intensity() == Approx(33.0 / 35));
  // Two of them in one prompt: 28 rows, then 2 queries over 30 keys, then 2 over 32.
  const StagedCost stacked = ippd_cost(2, std::vector{context, context});
  CHECK(stacked.prefill.flops == 28 * 28);
  CHECK(stacked.decode.flops == 2 * 30 + 2 * 32);
}

TEST_CASE("sums over random stacks equal a count token by token") {
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    const auto p = static_cast<std::int64_t>(rng.below(20));
    std::vector<CommonContext> stack(1 + rng.below(4));
    for (CommonContext& context : stack) {
      context.c = static_cast<std::int64_t>(1 + rng.below(30));
      for (std::uint64_t k = 1 + rng.below(6); k > 0; --k) {
        context.x.push_back(static_cast<std::int64_t>(1 + rng.below(9)));
        context.y.push_back(static_cast<std::int64_t>(1 + rng.below(7)));
      }
    }
    // Rows in the cache, which grow as tokens are computed; one operation in each step.
    std::int64_t rows = p, flops = 0, accesses = 0;
    std::vector<std::int64_t> left;  // ids that are still to be computed, for each answer
    for (const CommonContext& context : stack) {
      rows += context.c;
      for (const std::int64_t x : context.x) rows += x;
      for (const std::int64_t y : context.y) left.push_back(y - 1);
    }
    const StagedCost cost = ippd_cost(p, stack);
    REQUIRE(cost.prefill.flops == static_cast<double>(rows * rows));
    for (;;) {
      std::int64_t q = 0;
      for (std::int64_t& one : left) q += one > 0 ? (--one, 1) : 0;
      if (q == 0) break;
      rows += q;
      flops += q * rows;
      accesses += q + rows;
    }
    REQUIRE(cost.decode.flops == static_cast<double>(flops));
    REQUIRE(cost.decode.accesses == static_cast<double>(accesses));
    // One question for each context: nothing is shared, and both methods are the same.
    CommonContext single = stack[0];
    single.x.resize(1), single.y.resize(1);
    const StagedCost a = pcpa_cost(p, single), b = ippd_cost(p, std::vector{single});
    REQUIRE((a.prefill.flops == b.prefill.flops && a.decode.flops == b.decode.flops &&
             a.decode.accesses == b.decode.accesses));
  }
}
