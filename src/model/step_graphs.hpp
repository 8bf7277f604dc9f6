#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>

#include "src/model/gpu_attention.hpp"

namespace pardec {

/// The passes of one network on a GPU. A step of few rows takes its kernels less time than it takes
/// to launch them one by one: so the passes of a shape are recorded once, and a later pass of that
/// shape is its description and one launch (CUDA graphs).
class StepGraphs {
 public:
  /// Without `record` every pass is launched kernel by kernel, with the same results. Of so many
  /// shapes recordings are held, of those that came last.
  explicit StepGraphs(std::unique_ptr<Gpu> gpu, bool record = true, size_t shapes = 32);

  /// What the last layer makes of `attention`'s rows. What differs from pass to pass it learns from
  /// `attention` alone.
  using Layers = std::function<at::Tensor(const GpuAttention& attention)>;

  /// What `layers` makes of the rows of all steps, [rows, hidden], in memory of its own. Calls with
  /// `repeats` all give the same `layers`; without, nothing is recorded. The caches have room for
  /// their new rows, and have them afterwards. RunError: the GPU refuses.
  at::Tensor run(const Model::Network& network, std::span<const SequenceStep> steps,
                 const Layers& layers, bool repeats);

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
