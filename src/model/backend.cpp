#include "src/model/backend.hpp"

#include "src/model/cuda/cuda_backend.hpp"
#include "src/model/cuda/cuda_runner.hpp"
#include "src/model/network.hpp"
#include "src/model/packed/packed_backend.hpp"
#include "src/model/plain/plain_backend.hpp"

namespace pardec {

std::shared_ptr<Backend> choose_backend(Model::Network& network) {
  if (PackedBackend::fits(network)) return PackedBackend::take(network);
#ifdef PARDEC_CUDA
  if (network.device.is_cuda() && GpuAttention::fits(network))
    return std::make_shared<CudaBackend>(cuda_gpu(network.device), network.options.cuda_graphs);
#endif
  return std::make_shared<PlainBackend>();
}

}  // namespace pardec
