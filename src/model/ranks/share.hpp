#pragma once
#include <cstdint>

#include "src/model/files/config.hpp"

namespace pardec {

/// Consecutive items, counted from 0.
struct ItemRange {
  std::int64_t first = 0, count = 0;
};

/// The part of a network that one of several processes computes, as in Megatron-LM (Shoeybi et al.
/// 2019, arXiv:1909.08053). A process has some query heads, with the key-value heads that they read
/// and these heads' part of the cache; some columns of each MLP, i.e. rows of gate and up; and the
/// rows of embedding and head of some ids. The outputs of attention and of the MLP are sums over
/// all processes. Norms, routers and the blocks of extra heads are in every process.
struct Share {
  ItemRange heads;
  /// If there are more processes than key-value heads, several processes have the same one.
  ItemRange kv_heads;
  ItemRange inner;         ///< of intermediate_size
  ItemRange expert_inner;  ///< of Experts::inner
  ItemRange shared_inner;  ///< of Experts::shared_inner
  ItemRange vocab;         ///< ids
  /// Whether no process of a lower rank has the same key-value head.
  bool counts_keys = true;
  /// Whether this process adds the biases of the maps whose outputs are summed (rank 0).
  bool adds_bias = true;
};

/// The part of the process of rank `rank` of `size`. Parts are as even as whole heads allow.
/// `unit`: columns of an MLP are divided in multiples of this number, if there are enough of them.
/// ConfigError: the network has fewer query heads, fewer columns of an MLP, or fewer than two ids
/// per process. REQUIRES: 0 <= rank < size.
Share share_of(const ModelConfig& config, int rank, int size, std::int64_t unit = 32);

/// The config of a network that has only this part. `config`: of the whole network. The size of its
/// vocabulary stays that of the whole network.
ModelConfig part_of(ModelConfig config, const Share& share);

}  // namespace pardec
