// The glue between libtorch's GPU and our kernels; built with a CUDA libtorch alone.
#include "src/model/cuda_runner.hpp"

#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

GpuAttention::Runner cuda_runner(at::Device device) {
  const auto stream = c10::cuda::getCurrentCUDAStream(device.index());
  int multiprocessors = 1;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, stream.device_index());
  return {&cuda::attend, stream.stream(), multiprocessors};
}

std::pair<at::Tensor, at::Tensor> cuda_best_ids(const at::Tensor& logits, std::int32_t count) {
  const at::Tensor rows = logits.contiguous();
  const at::Tensor ids = at::empty({rows.size(0), count}, rows.options().dtype(at::kInt));
  const at::Tensor values = at::empty({rows.size(0), count}, rows.options());
  if (const char* error =
          cuda::best_ids(rows.const_data_ptr<float>(), rows.size(0), rows.size(1), count,
                         ids.mutable_data_ptr<std::int32_t>(), values.mutable_data_ptr<float>(),
                         c10::cuda::getCurrentCUDAStream(logits.device().index()).stream()))
    throw RunError(str("the GPU refuses the best of ", rows.size(0), " rows: ", error));
  return {ids, values};
}

}  // namespace pardec
