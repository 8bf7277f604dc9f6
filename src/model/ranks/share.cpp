#include "src/model/ranks/share.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The items of one of `size` processes, in multiples of `unit` if there are enough.
ItemRange portion(std::int64_t count, int rank, int size, std::int64_t unit = 1) {
  if (count < unit * size) unit = 1;
  const std::int64_t units = (count + unit - 1) / unit;
  const auto border = [&](int at) { return std::min(units * at / size * unit, count); };
  return {border(rank), border(rank + 1) - border(rank)};
}

void check_enough(std::int64_t count, int size, const std::string& items) {
  if (count < size)
    throw ConfigError(str("`parallel=tensor` divides a network among ", size,
                          " processes, but this network has ", count, " ", items,
                          "; start at most ", count, " processes"));
}

}  // namespace

Share share_of(const ModelConfig& config, int rank, int size, std::int64_t unit) {
  const Experts& experts = config.experts;
  check_enough(config.heads, size, "query heads");
  check_enough(config.vocab_size / 2, size, "pairs of ids");
  for (const std::int64_t columns : {config.intermediate_size, experts.inner, experts.shared_inner})
    if (columns > 0) check_enough(columns, size, "columns of an MLP");
  Share share;
  const std::int64_t keys = config.kv_heads, group = config.heads / keys;
  if (size <= keys) {
    share.kv_heads = portion(keys, rank, size);
    share.heads = {share.kv_heads.first * group, share.kv_heads.count * group};
  } else {
    // Each process has one key-value head. The processes that have the same one divide its group.
    const std::int64_t key = rank * keys / size;
    const auto first_rank = [&](std::int64_t of) {
      return static_cast<int>((of * size + keys - 1) / keys);
    };
    const int first = first_rank(key);
    share.kv_heads = {key, 1};
    share.heads = portion(group, rank - first, first_rank(key + 1) - first);
    share.heads.first += key * group;
    share.counts_keys = rank == first;
  }
  share.inner = portion(config.intermediate_size, rank, size, unit);
  share.expert_inner = portion(experts.inner, rank, size, unit);
  share.shared_inner = portion(experts.shared_inner, rank, size, unit);
  share.vocab = portion(config.vocab_size, rank, size);
  share.adds_bias = rank == 0;
  return share;
}

ModelConfig part_of(ModelConfig config, const Share& share) {
  config.heads = static_cast<int>(share.heads.count);
  config.kv_heads = static_cast<int>(share.kv_heads.count);
  config.intermediate_size = static_cast<int>(share.inner.count);
  config.experts.inner = static_cast<int>(share.expert_inner.count);
  config.experts.shared_inner = static_cast<int>(share.shared_inner.count);
  return config;
}

}  // namespace pardec
