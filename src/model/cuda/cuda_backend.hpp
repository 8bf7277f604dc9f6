#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <span>

#include "src/model/cuda/gpu_attention.hpp"
#include "src/model/plain/plain_backend.hpp"

namespace pardec {

/// A GPU's: attention by its own kernels, all else by libtorch's operations. A step of few rows
/// takes its kernels less time than it takes to launch them one by one: so the passes of a shape
/// are recorded once, and a later pass of that shape is its description and one launch (CUDA
/// graphs). Of one network alone.
class CudaBackend final : public PlainBackend {
 public:
  /// Without `record` every pass is launched kernel by kernel, with the same results. Of so many
  /// shapes recordings are held, of those that came last.
  explicit CudaBackend(std::unique_ptr<Gpu> gpu, bool record = true, size_t shapes = 32);

  /// In memory of its own. A pass that skips sublayers is not recorded. RunError: the GPU refuses.
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  CacheForm cache_form() const override { return {.whole_blocks = true}; }

  std::int64_t replayed() const { return replayed_; }  ///< passes
  std::int64_t recorded() const { return recorded_; }

 private:
  struct Held {
    PassShape shape;
    GpuAttention attention;
    at::Tensor result{};
    std::unique_ptr<Gpu::Recording> recording{};  // writes there
  };

  std::unique_ptr<Gpu> gpu_;
  bool record_;
  size_t shapes_;
  std::list<Held> held_;  // the one used last comes first
  std::int64_t replayed_ = 0, recorded_ = 0;
};

}  // namespace pardec
