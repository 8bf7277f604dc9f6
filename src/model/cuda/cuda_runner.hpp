#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "src/model/cuda/gpu.hpp"
#include "src/model/device.hpp"
#include "src/model/torch.hpp"

namespace pardec {

/// A Gpu for `device`, on libtorch's current stream. It records with CUDA graphs. Defined only if
/// PARDEC_CUDA is defined.
std::unique_ptr<Gpu> cuda_gpu(at::Device device);

/// The CUDA parts of gpu_facts() and device_memory_peak() in device.hpp. Defined only if
/// PARDEC_CUDA is defined. cuda_facts throws ModelError if there is no such GPU.
GpuFacts cuda_facts(at::Device device);
std::int64_t cuda_memory_peak(at::Device device);

/// For each row of float32 `logits` on a GPU: the `count` best ids and their logits, [rows, count]
/// each, as int32 and float32 tensors. See cuda::best_ids. RunError: the GPU reports an error.
/// Defined only if PARDEC_CUDA is defined.
std::pair<at::Tensor, at::Tensor> cuda_best_ids(const at::Tensor& logits, std::int32_t count);

}  // namespace pardec
