#include "metrics/decoding_metrics.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("pads fill every prompt's step up to the widest one") {
  // By hand: row A has two values of three tokens, row B one; step 2 is two wide, so B gets one
  // pad, and the same in step 3.
  CHECK(pad_columns(std::vector<BranchLengths>{{3, 3}, {3}}) == 2);
  CHECK(pad_columns(std::vector<BranchLengths>{{3, 3}, {2}}) == 1 + 2);
  CHECK(pad_columns(std::vector<BranchLengths>{{5, 1, 2}}) ==
        0);  // nothing is padded in a batch of one
  CHECK(pad_columns(std::vector<BranchLengths>{{1, 1}, {1}}) ==
        0);  // the prefill gives every first token
  CHECK(pad_columns({}) == 0);
}

TEST_CASE("the paper's prices follow from its throughputs") {
  // Table 4 (products/s on one GPU) gives Table 1 (USD for 1,000 products, fine-tuned) at 30.13
  // USD/h for 8 GPUs; both are rounded.
  const struct {
    double throughput, usd;
  } rows[] = {{0.14, 7.745}, {1.17, 0.898}, {0.31, 3.420}, {4.23, 0.248}, {0.77, 1.362},
              {6.28, 0.167}, {0.87, 1.200}, {7.89, 0.133}, {0.94, 1.110}, {10.99, 0.095}};
  for (const auto& row : rows) {
    CAPTURE(row.throughput);
    CHECK(usd_per_thousand(row.throughput + 0.005, 30.13 / 8) <= row.usd + 0.0005);
    CHECK(usd_per_thousand(row.throughput - 0.005, 30.13 / 8) >= row.usd - 0.0005);
  }
}

TEST_CASE("parallel metrics: ASPD's worked example, and an answer without a group") {
  const ParallelCounts worked{21, 12, 1, 2, 3'000'000'000, 500'000'000};
  const ParallelMetrics one = parallel_metrics(std::vector{worked});
  CHECK(one.dp == 12.0 / 21.0);
  CHECK(one.abn == 2);
  CHECK(one.ppd == 1);
  CHECK(one.tps == 7);
  CHECK(one.p_tps == 24);
  const ParallelCounts serial{10, 0, 0, 0, 2'000'000'000, 0};
  const ParallelCounts twice{40, 30, 2, 5, 4'000'000'000, 1'000'000'000};
  const ParallelMetrics all = parallel_metrics(std::vector{worked, serial, twice, serial});
  CHECK(all.dp == (12.0 / 21.0 + 0.75) / 2);
  CHECK(all.dp_all == (12.0 / 21.0 + 0.75) / 4);
  CHECK(all.abn == 2.25);
  CHECK(all.ppd == 0.5);
  CHECK(all.tps == (7.0 + 5 + 10 + 5) / 4);
  CHECK(all.p_tps == 27);
  CHECK(parallel_metrics({}).ppd == 0);
}
