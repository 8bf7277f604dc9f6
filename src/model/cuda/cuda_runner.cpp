// Connects libtorch's GPU with the project's kernels. Built only with a CUDA libtorch.
#include "src/model/cuda/cuda_runner.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void* current_stream(at::Device device) {
  return c10::cuda::getCurrentCUDAStream(device.index()).stream();
}

class CudaRecording : public Gpu::Recording {
 public:
  using Pool = at::cuda::MempoolId_t;  // of memory, on the GPU and for copies to it
  CudaRecording(const std::function<void()>& work, std::shared_ptr<const Pool> pool)
      : pool_(std::move(pool)) {
    // Other threads may use the GPU during the capture.
    graph_.capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      try {
        graph_.capture_end();  // frees the stream; errors of the capture itself do not matter here
      } catch (const c10::Error&) {
      }
      throw;
    }
    graph_.capture_end();
  }
  void replay() override { graph_.replay(); }

 private:
  std::shared_ptr<const Pool> pool_;
  at::cuda::CUDAGraph graph_;
};

class CudaGpu : public Gpu {
 public:
  explicit CudaGpu(at::Device device)
      : device_(device),
        recording_stream_(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {
    cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device.index());
  }

  int multiprocessors() const override { return multiprocessors_; }

  void store(const cuda::Attention& attention, const std::uint16_t* keys,
             const std::uint16_t* values) override {
    const c10::cuda::CUDAGuard guard(device_);
    check(cuda::store(attention, keys, values, current_stream(device_)), attention, "a copy");
  }
  void attend(const cuda::Attention& attention) override {
    const c10::cuda::CUDAGuard guard(device_);
    check(cuda::attend(attention, current_stream(device_)), attention, "an attention");
  }

  std::unique_ptr<Recording> record(const std::function<void()>& work) override {
    // The default stream cannot be recorded. All recordings use one stream, since libtorch keeps
    // memory per stream.
    const c10::cuda::CUDAStreamGuard guard(recording_stream_);
    auto pool = pool_.lock();
    if (!pool)
      pool_ = pool = std::make_shared<const CudaRecording::Pool>(at::cuda::graph_pool_handle());
    try {
      return std::make_unique<CudaRecording>(work, std::move(pool));
    } catch (const c10::Error& error) {
      throw RunError(str("the GPU cannot record a step: ", error.what_without_backtrace(),
                         "; `no_cuda_graphs` runs without"));
    }
  }

 private:
  static void check(const char* error, const cuda::Attention& attention, const char* what) {
    if (error)
      throw RunError(str("the GPU refuses ", what, " of ", attention.rows, " rows: ", error));
  }

  at::Device device_;
  int multiprocessors_ = 1;
  c10::cuda::CUDAStream recording_stream_;
  // Shared by all recordings, since they are replayed one at a time. libtorch ends a pool with its
  // last recording, and the next one needs a new pool.
  std::weak_ptr<const CudaRecording::Pool> pool_;
};

}  // namespace

std::unique_ptr<Gpu> cuda_gpu(at::Device device) { return std::make_unique<CudaGpu>(device); }

GpuFacts cuda_facts(at::Device device) {
  cudaDeviceProp properties{};
  int runtime = 0;
  if (const cudaError_t error =
          cudaGetDeviceProperties(&properties, device.has_index() ? device.index() : 0);
      error != cudaSuccess)
    throw ModelError(device.str(), cudaGetErrorString(error));
  cudaRuntimeGetVersion(&runtime);
  return {properties.name, str(runtime / 1000, ".", runtime % 1000 / 10),
          str(properties.major, ".", properties.minor),
          static_cast<std::int64_t>(properties.totalGlobalMem)};
}

std::int64_t cuda_memory_peak(at::Device device) {
  // The first of the statistics is that of all pools.
  return c10::cuda::CUDACachingAllocator::getDeviceStats(device.has_index() ? device.index() : 0)
      .reserved_bytes[0]
      .peak;
}

std::pair<at::Tensor, at::Tensor> cuda_best_ids(const at::Tensor& logits, std::int32_t count) {
  const c10::cuda::CUDAGuard guard(logits.device());
  const at::Tensor rows = logits.contiguous();
  const at::Tensor ids = at::empty({rows.size(0), count}, rows.options().dtype(at::kInt));
  const at::Tensor values = at::empty({rows.size(0), count}, rows.options());
  if (const char* error =
          cuda::best_ids(rows.const_data_ptr<float>(), rows.size(0), rows.size(1), count,
                         ids.mutable_data_ptr<std::int32_t>(), values.mutable_data_ptr<float>(),
                         current_stream(logits.device())))
    throw RunError(str("the GPU refuses the best of ", rows.size(0), " rows: ", error));
  return {ids, values};
}

}  // namespace pardec
