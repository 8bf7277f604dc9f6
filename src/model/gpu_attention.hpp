#pragma once
#include <span>
#include <vector>

#include "src/kernels/cuda/kernels.hpp"
#include "src/model/transformer.hpp"

namespace pardec {

/// As CachedAttention, by the GPU's own kernels: labels go to its memory once a pass, who sees whom
/// is evaluated there, and no mask is made.
class GpuAttention {
 public:
  /// Who runs the kernels.
  struct Runner {
    decltype(&cuda::attend) attend;
    void* stream;
    int multiprocessors;  ///< that work is to be found for
  };

  /// Whether the kernels can do the network's attention: bf16, a head_dim that they take.
  static bool fits(const Model::Network& network);

  /// REQUIRES: fits(network). `steps` outlive it; the caches have room for their new rows.
  GpuAttention(const Model::Network& network, std::span<const SequenceStep> steps, Runner runner);

  /// As CachedAttention::attend. RunError: the GPU refuses.
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v);

 private:
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;  // of the pass's rows
  };
  struct Description;
  void describe(const SequenceStep& step, Description& d);

  const Model::Network& network_;
  Runner runner_;
  std::vector<Part> parts_;
  size_t pieces_ = 0;               // of a layer
  at::Tensor described_, partial_;  // what the kernels read, and write
  cuda::Attention attention_{};
};

}  // namespace pardec
