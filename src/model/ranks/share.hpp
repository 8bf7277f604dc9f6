#pragma once
#include <cstdint>

#include "src/model/files/config.hpp"

namespace pardec {

/// A range of consecutive items: `count` items, from the item with index `first` (from 0) on.
struct ItemRange {
  std::int64_t first = 0, count = 0;
};

/// The part of a network that one of several processes computes, as in Megatron-LM (Shoeybi et al.
/// 2019, arXiv:1909.08053). A process has a range of query heads, with the key-value heads that
/// they read, and caches the keys and values of these key-value heads. It also has a range of each
/// MLP's inner columns (rows of gate and up, columns of down), and the rows of embedding and head
/// for a range of ids. The outputs of attention and of the MLP are summed over all processes.
/// Norms, routers and the blocks of extra heads are in every process.
struct Share {
  ItemRange heads;
  /// If there are more processes than key-value heads, each process has one key-value head, which
  /// more than one process may have.
  ItemRange kv_heads;
  ItemRange inner;         ///< columns, of ModelConfig::intermediate_size
  ItemRange expert_inner;  ///< columns of each expert, of Experts::inner
  ItemRange shared_inner;  ///< columns of the shared expert, of Experts::shared_inner
  ItemRange vocab;         ///< ids
  /// Whether this process has the lowest rank of the processes with the same key-value heads. Only
  /// the process with the lowest rank counts these heads in a norm over all heads (QkNorm::whole).
  bool counts_keys = true;
  /// Whether this process adds the biases of o and down, whose outputs are summed. Only rank 0
  /// does.
  bool adds_bias = true;
};

/// The part of a network that process `rank` of `size` processes computes. The parts are as equal
/// in size as whole heads allow. `unit`: if an MLP has at least unit * size columns, then the
/// number of its columns in each part except the last is a multiple of `unit`. ConfigError: the
/// network has fewer query heads than processes, fewer columns of an MLP than processes, or fewer
/// than two ids for each process. REQUIRES: 0 <= rank < size.
Share share_of(const ModelConfig& config, int rank, int size, std::int64_t unit = 32);

/// The config of a network that has only this part. `config`: the config of the whole network.
/// vocab_size is not changed.
ModelConfig part_of(ModelConfig config, const Share& share);

}  // namespace pardec
