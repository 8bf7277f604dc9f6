#pragma once
// Attention as tensor operations, for networks computed by libtorch.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/model/backend.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/mask.hpp"

namespace pardec {

/// What attention prepares once per pass for all layers of a kind (a Plan): one Plan for the layers
/// without a sliding window, and one for the layers with a window. A Plan exists only if some layer
/// needs it.
template <typename Plan>
class PerLayer {
 public:
  /// `make(window)` makes the plan for layers with this sliding window; 0: no window. `config` must
  /// outlive this object.
  template <typename Make>
  PerLayer(const ModelConfig& config, Make&& make) : config_(config) {
    for (const int window : config.windows()) (window > 0 ? sliding_ : full_).emplace(make(window));
  }
  /// The plan for a layer.
  Plan& of(size_t layer) { return config_.window(layer) > 0 ? *sliding_ : *full_; }

 private:
  const ModelConfig& config_;
  std::optional<Plan> full_, sliding_;
};

/// Attention of one sequence's step. The queries are divided into chunks so that the scores need
/// little memory. A chunk is computed with all keys up to the last key that any query of the chunk
/// sees.
class AttentionPlan {
 public:
  /// The keys are the cache's `slots`, followed by the new rows with these labels. `window`: the
  /// sliding window; 0: none. `network`, `labels` and `segments` must outlive this object.
  AttentionPlan(const Model::Network& network, std::span<const KvCache::Slot> slots,
                std::span<const RowLabel> labels, const Segments& segments, int window);

  /// `q`: [n, heads, head_dim], already multiplied by the attention scale. `keys`, `values`:
  /// [kv_heads, slots, head_dim], with at least as many slots as there are keys. `sinks`: [heads]
  /// (BlockSpec::sinks), or undefined. Returns [n, heads * head_dim].
  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values,
                    const at::Tensor& sinks);

  /// Whether one chunk contains all queries.
  bool whole() const { return chunks_.size() == 1; }
  /// Converts scores [kv_heads, n * group, keys], where group is heads / kv_heads, to attention
  /// weights of the same shape: cap, mask, softmax. Row i * group + j of a key head has the scores
  /// of query i and of the j-th of the query heads that use this key head. The function overwrites
  /// `scores`. REQUIRES: whole().
  at::Tensor weights(const at::Tensor& scores, const at::Tensor& sinks);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0;
    std::int64_t end = 0;  // no query of the chunk sees keys from here on
    bool masked = false;   // false: every query sees all keys before `end`
    at::Tensor mask;       // [count, 1, end]; undefined if it is too large to be kept
  };

  at::Tensor build(Chunk& chunk);
  at::Tensor attend(Chunk& chunk, const at::Tensor& q, const at::Tensor& keys,
                    const at::Tensor& values, const at::Tensor& sinks);

  const Model::Network& network_;
  MaskRows rows_;
  std::vector<Chunk> chunks_;
};

/// Writes rows [begin, begin + count) of `rows` [n, kv_heads, head_dim], which are new keys or
/// values, to `into`, after the last of the cache's own slots.
inline void write_new_rows(const KvCache::Storage& cache, const at::Tensor& into,
                           const at::Tensor& rows, std::int64_t begin, std::int64_t count) {
  into.narrow(1, cache.own(), count).copy_(rows.narrow(0, begin, count).transpose(0, 1));
}

/// Attention of one forward pass over the caches of its sequences and the new rows. If several
/// caches share memory, one matrix product reads this memory for all of them (cascade inference, as
/// in Hydragen, arXiv:2402.05099, section 3.1). Hydragen joins two partial softmaxes; here, one
/// softmax covers all scores of a row. Both methods are exact.
class CachedAttention {
 public:
  /// `network` and the objects that `sequences` refers to must outlive this object.
  CachedAttention(const Model::Network& network, std::span<const NewRows> sequences);

  /// `q`: [n, heads, head_dim], already multiplied by the attention scale. `k`, `v`: [n, kv_heads,
  /// head_dim]. They contain all new rows, one sequence after another. Writes k and v to the
  /// caches, after their last slots. Returns [n, heads * head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;  // range of the pass's rows
    std::unique_ptr<PerLayer<AttentionPlan>> plans;
    bool cascades;  // whether its shared rows are read in one product for several parts
  };
  /// Shared rows, and the parts that attend to them.
  struct Group {
    const SharedRows* rows;
    std::int64_t slots;
    std::vector<size_t> parts;
  };
  /// Calls work(i) for each part, in pieces on the CPU.
  template <typename Work>
  void each_part(const Work& work);
  at::Tensor alone(Part& part, size_t layer, const at::Tensor& q) const;
  void together(size_t layer, const at::Tensor& q, std::vector<at::Tensor>& outputs);

  const Model::Network& network_;
  std::vector<Part> parts_;
  std::vector<Group> groups_;
};

/// Differentiable attention of packed sequences. Queries are divided into chunks. A chunk is
/// computed with all keys up to the last key that any query of the chunk sees. Uses plain matrix
/// products: with the short sequences of training, the products take a quarter to half of the time
/// that libtorch's fused kernel takes.
///
/// `joined`: all sequences are computed as one sequence with a mask that hides them from each
/// other. This is for GPUs, where one large product is faster than many small ones.
class TrainingAttention {
 public:
  /// The sequences' labels and segments are read only here. `network` must outlive this object.
  TrainingAttention(const Model::Network& network, std::span<const PackedSequence> sequences,
                    bool joined);

  /// `q`: [n, heads, head_dim], already multiplied by the attention scale. `k`, `v`: [n, kv_heads,
  /// head_dim]. Returns [n, heads * head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0, end = 0;  // row numbers within the sequence
    at::Tensor mask;                             // [count, 1, end]
  };
  using Chunks = std::vector<std::vector<Chunk>>;  // per sequence
  static Chunks cut(const Model::Network& network, std::span<const PackedSequence> sequences,
                    int window);
  static Chunks join(const Model::Network& network, std::span<const PackedSequence> sequences,
                     int window);

  const std::vector<Layer>& layers_;
  const std::int64_t kv_, group_;
  const double cap_;
  std::vector<std::int64_t> counts_, grouped_counts_;  // rows per sequence; rows * group
  PerLayer<Chunks> chunks_;
};

}  // namespace pardec
