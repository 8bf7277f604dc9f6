#include "src/model/device.hpp"

#include <ATen/detail/CUDAHooksInterface.h>
#include <torch/version.h>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/team.hpp"
#include "src/model/torch.hpp"
#ifdef PARDEC_CUDA
#include "src/model/cuda/cuda_runner.hpp"
#endif

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

std::optional<GpuFacts> gpu_facts([[maybe_unused]] const std::string& device) {
#ifdef PARDEC_CUDA
  if (device != "cpu") return cuda_facts(at::Device(device));
#endif
  return std::nullopt;
}

std::optional<std::int64_t> device_memory_peak([[maybe_unused]] const std::string& device) {
#ifdef PARDEC_CUDA
  if (device != "cpu") return cuda_memory_peak(at::Device(device));
#endif
  return std::nullopt;
}

bool computes_bf16_fast(std::string_view device) {
  return device != "cpu" || widest_instruction_set() >= InstructionSet::avx512_bf16;
}

}  // namespace pardec
