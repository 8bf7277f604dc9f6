#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pardec {

class Team;

/// The program's compute threads. Their number is libtorch's default number of threads, unless
/// set_threads was called. From the first call of `team`, `set_threads` or `threads` on, a libtorch
/// operation runs only on the thread that calls the operation.
Team& team();
/// Sets the number of compute threads. A number of 0 or less keeps the current number. REQUIRES: no
/// forward pass is running.
void set_threads(int threads);
/// The number of compute threads.
int threads();

/// Version of the libtorch that this program was built with, e.g. "1.2.3".
std::string libtorch_version();
/// Whether libtorch is a CUDA build and finds a GPU.
bool cuda_available();

/// Facts about a GPU, as CUDA reports them.
struct GpuFacts {
  std::string name;        ///< e.g. "NVIDIA H100 80GB HBM3"
  std::string runtime;     ///< version of the CUDA runtime, e.g. "12.4"
  std::string capability;  ///< compute capability, e.g. "9.0"
  /// size of the GPU's memory
  std::int64_t memory_bytes = 0;
};
/// The facts about a GPU. `device`: "cuda" or "cuda:i", or "cpu". None: `device` is the CPU, or
/// this program was built without CUDA. ModelError: there is no such GPU.
std::optional<GpuFacts> gpu_facts(const std::string& device);
/// The largest amount of GPU memory, in bytes, that libtorch has held at one time since the program
/// began. `device`, and the meaning of none: see gpu_facts. REQUIRES: the GPU exists.
std::optional<std::int64_t> device_memory_peak(const std::string& device);

/// Whether a network is faster in bf16 than in fp32 on this device. This is the case on a GPU, and
/// on a CPU with bf16 dot-product instructions. `device`: as in Model::Options.
bool computes_bf16_fast(std::string_view device);

}  // namespace pardec
