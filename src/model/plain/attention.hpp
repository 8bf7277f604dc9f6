#pragma once
// Attention as tensor operations, for networks that run through libtorch.
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

/// One plan for the layers without a window, one for those with: each where some layer needs it.
template <typename Plan>
class PerLayer {
 public:
  /// `make(window)` makes a plan; window 0 is none.
  template <typename Make>
  PerLayer(const ModelConfig& config, Make&& make) : config_(config) {
    for (const int window : config.windows()) (window > 0 ? sliding_ : full_).emplace(make(window));
  }
  Plan& of(size_t layer) { return config_.window(layer) > 0 ? *sliding_ : *full_; }

 private:
  const ModelConfig& config_;
  std::optional<Plan> full_, sliding_;
};

/// The queries of one sequence's step in chunks, so that scores stay small, each with the keys that
/// it can see.
class AttentionPlan {
 public:
  AttentionPlan(const Model::Network& network, std::span<const KvCache::Slot> slots,
                std::span<const RowLabel> labels, const Segments& segments, int window);

  /// q [n, heads, head_dim], scaled; keys and values [kv_heads, >= all keys, head_dim] -> [n, heads
  /// * head_dim].
  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values);

  /// Whether all queries are one chunk.
  bool whole() const { return chunks_.size() == 1; }
  /// Of a whole plan: scores [kv_heads, n * group, all keys] -> weights, the same.
  at::Tensor weights(const at::Tensor& scores);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0;
    std::int64_t end = 0;  // keys from here on are hidden from all of them
    bool masked = false;   // false: all of them see all keys before `end`
    at::Tensor mask;       // [count, 1, end]; undefined where it is too large to keep
  };

  at::Tensor build(Chunk& chunk);
  at::Tensor attend(Chunk& chunk, const at::Tensor& q, const at::Tensor& keys,
                    const at::Tensor& values);

  const Model::Network& network_;
  MaskRows rows_;
  std::vector<Chunk> chunks_;
};

/// Writes new keys or values [n, kv_heads, head_dim], rows [begin, begin + count) of them, behind
/// the last slot of a cache's own memory.
inline void write_behind(const KvCache::Storage& cache, const at::Tensor& into,
                         const at::Tensor& rows, std::int64_t begin, std::int64_t count) {
  into.narrow(1, cache.own(), count).copy_(rows.narrow(0, begin, count).transpose(0, 1));
}

/// Attention of one forward pass to the caches of its sequences and to the new rows. What several
/// caches share is read in one product for all of them (cascade inference; exact, as in Hydragen,
/// arXiv:2402.05099, section 3.1, but with one softmax over all scores of a row instead of two that
/// are joined).
class CachedAttention {
 public:
  /// What `sequences` refer to outlives it.
  CachedAttention(const Model::Network& network, std::span<const NewRows> sequences);

  /// q [n, heads, head_dim], scaled; k and v [n, kv_heads, head_dim], of all new rows, one sequence
  /// after another; they are written behind the last slots. -> [n, heads * head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;  // of the pass's rows
    std::unique_ptr<PerLayer<AttentionPlan>> plans;
    bool cascades;  // its shared rows are read with those of others
  };
  /// Shared rows, and the parts that read them.
  struct Group {
    const SharedRows* rows;
    std::int64_t slots;
    std::vector<size_t> parts;
  };
  /// work(i) of each part, in pieces on the CPU.
  template <typename Work>
  void each_part(const Work& work);
  at::Tensor alone(Part& part, size_t layer, const at::Tensor& q) const;
  void together(size_t layer, const at::Tensor& q, std::vector<at::Tensor>& outputs);

  const Model::Network& network_;
  std::vector<Part> parts_;
  std::vector<Group> groups_;
};

/// Attention of packed sequences, differentiable. Queries in chunks, each with the keys up to the
/// last one that it sees. Plain products: for the short sequences of training they take half to a
/// quarter of the time of the library's fused kernel.
class TrainingAttention {
 public:
  TrainingAttention(const Model::Network& network, std::span<const PackedSequence> sequences);

  /// q [n, heads, head_dim], scaled; k and v [n, kv_heads, head_dim] -> [n, heads * head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0, end = 0;  // within the sequence
    at::Tensor mask;                             // [count, 1, end]
  };
  using Chunks = std::vector<std::vector<Chunk>>;  // of the sequences
  static Chunks cut(const Model::Network& network, std::span<const PackedSequence> sequences,
                    int window);

  const std::int64_t kv_, group_;
  std::vector<std::int64_t> counts_, grouped_counts_;  // rows of the sequences, and times group
  PerLayer<Chunks> chunks_;
};

}  // namespace pardec
