// The parts of a network that several processes compute.
#include "src/model/ranks/share.hpp"

#include <algorithm>
#include <vector>

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

ModelConfig config_with(int heads, int kv_heads) {
  ModelConfig config;
  config.heads = heads;
  config.kv_heads = kv_heads;
  config.intermediate_size = 200;
  config.experts.inner = 70;
  config.vocab_size = 97;
  return config;
}

/// Whether the ranges follow one another from 0 to `count`, and none is empty.
bool covers(const std::vector<ItemRange>& ranges, std::int64_t count) {
  std::int64_t at = 0;
  for (const ItemRange& range : ranges) {
    if (range.first != at || range.count < 1) return false;
    at += range.count;
  }
  return at == count;
}

}  // namespace

TEST_CASE("the parts of all processes are the network, and each query head has its key head") {
  for (const auto& [heads, kv_heads] : {std::pair{4, 2}, {9, 3}, {6, 6}, {8, 1}, {32, 8}, {14, 2}})
    for (int size = 1; size <= heads; ++size) {
      INFO(heads << " heads, " << kv_heads << " key heads, " << size << " processes");
      const ModelConfig config = config_with(heads, kv_heads);
      std::vector<ItemRange> query, inner, expert, vocab;
      std::vector<int> counted(static_cast<size_t>(kv_heads));
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(config, rank, size);
        query.push_back(share.heads);
        inner.push_back(share.inner);
        expert.push_back(share.expert_inner);
        vocab.push_back(share.vocab);
        CHECK(share.adds_bias == (rank == 0));
        const ModelConfig part = part_of(config, share);
        REQUIRE(part.heads % part.kv_heads == 0);
        for (int head = 0; head < part.heads; ++head)  // the kernels' rule, in the part
          CHECK((share.heads.first + head) / (heads / kv_heads) ==
                share.kv_heads.first + head / (part.heads / part.kv_heads));
        if (share.counts_keys)
          for (int key = 0; key < part.kv_heads; ++key)
            ++counted[static_cast<size_t>(share.kv_heads.first + key)];
        CHECK(share.shared_inner.count == 0);
      }
      CHECK(covers(query, heads));
      CHECK(covers(inner, 200));
      CHECK(covers(expert, 70));
      CHECK(covers(vocab, 97));
      CHECK(std::all_of(counted.begin(), counted.end(), [](int times) { return times == 1; }));
    }
}

TEST_CASE("columns are divided in whole units if there are enough") {
  ModelConfig config = config_with(4, 2);
  config.intermediate_size = 1536;
  for (int rank = 0; rank < 4; ++rank) CHECK(share_of(config, rank, 4, 64).inner.count == 384);
  CHECK(share_of(config, 0, 4, 512).inner.count == 384);  // three units are not enough
}

TEST_CASE("a network is not divided among more processes than it has heads") {
  CHECK_THROWS_AS(share_of(config_with(4, 2), 0, 5), ConfigError);
  ModelConfig narrow = config_with(4, 2);
  narrow.intermediate_size = 3;
  CHECK_THROWS_AS(share_of(narrow, 0, 4), ConfigError);
}
