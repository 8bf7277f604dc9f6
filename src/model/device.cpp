#include "src/model/device.hpp"

#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>

#include "src/kernels/instruction_set.hpp"
#include "src/model/torch.hpp"

namespace pardec {

void set_threads(int threads) {
  if (threads > 0) at::set_num_threads(threads);
}

int threads() { return at::get_num_threads(); }

std::string libtorch_version() { return TORCH_VERSION; }

bool cuda_available() {
  return at::globalContext().hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
}

bool computes_bf16_fast(std::string_view device) {
  return device != "cpu" || widest_instruction_set() >= InstructionSet::avx512_bf16;
}

}  // namespace pardec
