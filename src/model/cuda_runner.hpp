#pragma once
#include "src/model/gpu_attention.hpp"

namespace pardec {

/// The runner of a network's GPU: its current stream. Where PARDEC_CUDA is defined.
GpuAttention::Runner cuda_runner(at::Device device);

/// The `count` best ids of each row of float32 `logits` on a GPU, and their values, [rows, count]
/// each: as cuda::best_ids. Where PARDEC_CUDA is defined.
std::pair<at::Tensor, at::Tensor> cuda_best_ids(const at::Tensor& logits, std::int32_t count);

}  // namespace pardec
