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

/// One plan for the layers without a window, and one for the layers with it; each exists only if
/// some layer needs it.
template <typename Plan>
class PerLayer {
 public:
  /// `make(window)` makes a plan; window 0: no window.
  template <typename Make>
  PerLayer(const ModelConfig& config, Make&& make) : config_(config) {
    for (const int window : config.windows()) (window > 0 ? sliding_ : full_).emplace(make(window));
  }
  Plan& of(size_t layer) { return config_.window(layer) > 0 ? *sliding_ : *full_; }

 private:
  const ModelConfig& config_;
  std::optional<Plan> full_, sliding_;
};

/// The queries of one sequence's step, divided into chunks so that the scores need little memory.
/// Each chunk is computed with the keys that it can see.
class AttentionPlan {
 public:
  AttentionPlan(const Model::Network& network, std::span<const KvCache::Slot> slots,
                std::span<const RowLabel> labels, const Segments& segments, int window);

  /// q [n, heads, head_dim], scaled; keys and values [kv_heads, >= all keys, head_dim]. Returns [n,
  /// heads * head_dim].
  at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values);

  /// Whether one chunk contains all queries.
  bool whole() const { return chunks_.size() == 1; }
  /// Of a whole plan: scores [kv_heads, n * group, all keys] to weights of the same shape.
  at::Tensor weights(const at::Tensor& scores);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0;
    std::int64_t end = 0;  // no query of the chunk sees keys from here on
    bool masked = false;   // false: every query sees all keys before `end`
    at::Tensor mask;       // [count, 1, end]; undefined if too large to keep
  };

  at::Tensor build(Chunk& chunk);
  at::Tensor attend(Chunk& chunk, const at::Tensor& q, const at::Tensor& keys,
                    const at::Tensor& values);

  const Model::Network& network_;
  MaskRows rows_;
  std::vector<Chunk> chunks_;
};

/// Writes rows [begin, begin + count) of new keys or values [n, kv_heads, head_dim] after the last
/// slot of a cache's own memory.
inline void write_behind(const KvCache::Storage& cache, const at::Tensor& into,
                         const at::Tensor& rows, std::int64_t begin, std::int64_t count) {
  into.narrow(1, cache.own(), count).copy_(rows.narrow(0, begin, count).transpose(0, 1));
}

/// Attention of one forward pass over the caches of its sequences and the new rows. Memory that
/// several caches share is read in one product for all of them (cascade inference). The result is
/// exact, as in Hydragen (arXiv:2402.05099, section 3.1), but computed with one softmax over all
/// scores of a row instead of joining two.
class CachedAttention {
 public:
  /// The objects that `sequences` refers to must outlive this object.
  CachedAttention(const Model::Network& network, std::span<const NewRows> sequences);

  /// q [n, heads, head_dim], scaled; k and v [n, kv_heads, head_dim]; of all new rows, one sequence
  /// after another. Writes k and v after the last slots. Returns [n, heads * head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;  // range of the pass's rows
    std::unique_ptr<PerLayer<AttentionPlan>> plans;
    bool cascades;  // whether its shared rows are read together with other parts
  };
  /// Shared rows, and the parts that read them.
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

/// Differentiable attention of packed sequences. Queries are divided into chunks, each computed
/// with the keys up to the last one that it sees. Uses plain matrix products: for the short
/// sequences of training they take a quarter to half of the time of libtorch's fused kernel.
///
/// `joined`: all sequences are computed as one, whose mask hides them from each other. A GPU
/// computes one large product faster than it starts many small ones.
class TrainingAttention {
 public:
  TrainingAttention(const Model::Network& network, std::span<const PackedSequence> sequences,
                    bool joined);

  /// q [n, heads, head_dim], scaled; k and v [n, kv_heads, head_dim]. Returns [n, heads *
  /// head_dim].
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Chunk {
    std::int64_t begin = 0, count = 0, end = 0;  // within the sequence
    at::Tensor mask;                             // [count, 1, end]
  };
  using Chunks = std::vector<std::vector<Chunk>>;  // per sequence
  static Chunks cut(const Model::Network& network, std::span<const PackedSequence> sequences,
                    int window);
  static Chunks join(const Model::Network& network, std::span<const PackedSequence> sequences,
                     int window);

  const std::int64_t kv_, group_;
  const double cap_;
  std::vector<std::int64_t> counts_, grouped_counts_;  // rows per sequence; the same times group
  PerLayer<Chunks> chunks_;
};

}  // namespace pardec
