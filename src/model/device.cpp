#include "src/model/device.hpp"

#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/team.hpp"
#include "src/model/torch.hpp"

namespace pardec {

Team& team() {
  static Team the_team([] {
    const int cores = at::get_num_threads();
    at::set_num_threads(1);
    return cores;
  }());
  return the_team;
}

void set_threads(int threads) {
  if (threads > 0 && threads != team().members()) team().resize(threads);
}

int threads() { return team().members(); }

std::string libtorch_version() { return TORCH_VERSION; }

bool cuda_available() {
  return at::globalContext().hasCUDA() && at::detail::getCUDAHooks().deviceCount() > 0;
}

bool computes_bf16_fast(std::string_view device) {
  return device != "cpu" || widest_instruction_set() >= InstructionSet::avx512_bf16;
}

}  // namespace pardec
