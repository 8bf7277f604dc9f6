#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "src/model/cuda/gpu.hpp"
#include "src/model/device.hpp"
#include "src/model/torch.hpp"

namespace pardec {

/// The GPU of libtorch, on its current stream, recording with CUDA graphs. Only where PARDEC_CUDA
/// is defined.
std::unique_ptr<Gpu> cuda_gpu(at::Device device);

/// As gpu_facts() and device_memory_peak() of device.hpp. Only where PARDEC_CUDA is defined.
GpuFacts cuda_facts(at::Device device);
std::int64_t cuda_memory_peak(at::Device device);

/// The `count` best ids of each row of float32 `logits` on a GPU, and their values, [rows, count]
/// each. See cuda::best_ids. Only where PARDEC_CUDA is defined.
std::pair<at::Tensor, at::Tensor> cuda_best_ids(const at::Tensor& logits, std::int32_t count);

}  // namespace pardec
