#include "src/checkpoint/memory_plan.hpp"

#include <cmath>

#include "src/checkpoint/network_size.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("sizes have decimal and binary units") {
  CHECK(parse_bytes("x", "900") == 900);
  CHECK(parse_bytes("x", "4G") == 4'000'000'000);
  CHECK(parse_bytes("x", "4GB") == 4'000'000'000);
  CHECK(parse_bytes("x", "1.5GiB") == 1'610'612'736);
  CHECK(parse_bytes("x", "512Ki") == 524'288);
  CHECK(parse_bytes("x", "2TB") == 2'000'000'000'000);
  for (const char* wrong : {"", "G", "-1G", "4X", "4GG", "4iB", "4 G", "0", "nan", "1e30"})
    CHECK_THROWS_AS(parse_bytes("x", wrong), ConfigError);
}

TEST_CASE("a memory limit leaves room for as many blocks as stay below it together") {
  for (const std::int64_t limit : {400'000'000LL, 1'200'000'000LL, 40'000'000'000LL}) {
    MemoryPlan plan{.weight_bytes = 200'000'000, .row_bytes = 57'344, .limit = limit};
    const auto total = [&](std::int64_t blocks) {
      return 1.05 * (2e8 + 1.25 * 16 * 57'344 * static_cast<double>(blocks)) + 160e6;
    };
    const std::int64_t blocks = plan.blocks(16);
    CHECK(total(blocks) <= static_cast<double>(limit));
    CHECK(total(blocks + 1) > static_cast<double>(limit));
    // The smallest limit for these rows is the same sum.
    CHECK(std::abs(static_cast<double>(plan.least(16 * blocks)) - total(blocks)) < 2);
  }
  CHECK(MemoryPlan{.weight_bytes = 200'000'000, .row_bytes = 57'344, .limit = 359'000'000}.blocks(
            16) < 1);
}

TEST_CASE("a limit takes blocks away, and frees a share if nothing can be swapped out") {
  const MemoryPlan plan{.weight_bytes = 200'000'000, .row_bytes = 57'344, .limit = 1'000'000'000};
  ModelOptions flags;
  CacheBudget few{.blocks = 3, .watermark = 0.05}, none, gpu;
  apply_limit(plan, flags, few);
  CHECK(few.blocks == 3);
  CHECK(few.watermark == 0.05);
  apply_limit(plan, flags, none);
  CHECK(none.blocks == plan.blocks(16));
  CHECK(none.watermark == 0.2);
  CHECK_FALSE(none.swaps);
  flags.device = "cuda";
  apply_limit(plan, flags, gpu);
  CHECK(gpu.blocks == plan.blocks(16));
  CHECK(gpu.swaps);
  CacheBudget untouched;
  apply_limit({.weight_bytes = 1, .row_bytes = 1}, flags, untouched);
  CHECK(untouched.blocks == 0);
}

TEST_CASE("of a layer's experts, the roofline counts those of one row, and memory all") {
  const auto config = [](int experts) {
    return parse_model_config({{"model_type", "qwen3_moe"},
                               {"vocab_size", 100},
                               {"hidden_size", 48},
                               {"intermediate_size", 64},
                               {"num_hidden_layers", 3},
                               {"num_attention_heads", 4},
                               {"num_key_value_heads", 2},
                               {"num_experts", experts},
                               {"num_experts_per_tok", 2},
                               {"moe_intermediate_size", 20},
                               {"mlp_only_layers", {1}}},
                              "config");
  };
  const NetworkSize two = network_size(config(2), Dtype::bf16),
                    many = network_size(config(7), Dtype::bf16);
  // By hand: the routers of two layers have five rows more; the other five experts are not read.
  CHECK(many.layer_weights == two.layer_weights + 2 * 5 * 48);
  CHECK(weight_bytes(config(7), Dtype::bf16) - weight_bytes(config(2), Dtype::bf16) ==
        2 * 2 * 5 * (48 + 3 * 20 * 48));
  CHECK(many.bytes_per_layer_weight == 2);
}
