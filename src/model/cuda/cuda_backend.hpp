#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "src/model/cuda/gpu_attention.hpp"
#include "src/model/plain/plain_backend.hpp"

namespace pardec {

/// The backend of a GPU: attention by the project's kernels, everything else by libtorch's
/// operations. A step of few rows computes faster than its kernels can be launched one by one.
/// Therefore the pass of each shape is recorded once; later passes of that shape need only their
/// description and one launch (CUDA graphs). One backend serves one network.
class CudaBackend final : public PlainBackend {
 public:
  /// Without `record`, every pass is launched kernel by kernel, with the same results. Keeps
  /// recordings of the `shapes` most recently used shapes.
  explicit CudaBackend(std::unique_ptr<Gpu> gpu, bool record = true, size_t shapes = 32);

  /// The result has its own memory. A pass that skips sublayers is not recorded. RunError: the GPU
  /// reports an error.
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  CacheForm cache_form() const override { return {.whole_blocks = true}; }

  std::int64_t replayed() const { return replayed_; }  ///< number of passes
  std::int64_t recorded() const { return recorded_; }

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
