#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "src/model/cuda/gpu_attention.hpp"
#include "src/model/plain/plain_backend.hpp"

namespace pardec {

/// The backend for GPUs. Attention uses the project's kernels; everything else uses libtorch's
/// operations. In a pass of few rows, launching the kernels takes longer than computing them.
/// Therefore the second pass of a shape is recorded as a CUDA graph. From then on, passes of that
/// shape copy their inputs to the GPU and launch the graph. Shapes are rounded up, so that few
/// recordings are needed. Passes of more than 64 rows, and passes that skip sublayers, are not
/// recorded. One backend serves one network.
class CudaBackend final : public PlainBackend {
 public:
  /// `record`: whether passes are recorded. False: every pass is launched kernel by kernel, with
  /// the same results. At most `shapes` (at least 1) recordings are kept: those of the most
  /// recently used shapes.
  explicit CudaBackend(std::unique_ptr<Gpu> gpu, bool record = true, size_t shapes = 32);

  /// The returned tensor does not share memory with a recording. Errors: see Model::forward.
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  CacheForm cache_form() const override { return {.whole_blocks = true}; }

  std::int64_t replayed() const { return replayed_; }  ///< number of passes that used a recording
  std::int64_t recorded() const { return recorded_; }  ///< number of recordings made so far

 private:
  struct Held {
    PassShape shape;
    GpuAttention attention;
    at::Tensor result{};
    std::unique_ptr<Gpu::Recording> recording{};  // writes its result to `result`
  };

  std::unique_ptr<Gpu> gpu_;
  bool record_;
  size_t shapes_;
  std::list<Held> held_;  // most recently used first
  std::int64_t replayed_ = 0, recorded_ = 0;
};

}  // namespace pardec
