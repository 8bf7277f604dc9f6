#pragma once
// A Gpu that is simulated on the host (cuda_on_host.hpp).
#include "src/model/cuda/gpu.hpp"
#include "src/model/model.hpp"

namespace pardec::test {

/// A simulated GPU. Replaying a recording repeats the recorded work, and checks that the arguments
/// that kernels get by value are those of the recording; otherwise it throws std::logic_error.
class GpuOnHost : public Gpu {
 public:
  /// `backwards`: whether the threads of a block run in descending order.
  explicit GpuOnHost(int multiprocessors, bool backwards = false)
      : multiprocessors_(multiprocessors), backwards_(backwards) {}
  int multiprocessors() const override { return multiprocessors_; }
  void store(const cuda::Attention& attention, const std::uint16_t* keys,
             const std::uint16_t* values) override;
  void attend(const cuda::Attention& attention) override;
  std::unique_ptr<Recording> record(const std::function<void()>& work) override;

 private:
  struct Work;
  /// Notes a launch of a kernel in the recording, or checks it in a replay. Returns whether the
  /// kernel should be run now: while work is recorded, no kernel runs.
  bool note(const cuda::Attention& attention);

  int multiprocessors_;
  bool backwards_;
  Work* recording_ = nullptr;  // at most one of these two is set
  Work* replaying_ = nullptr;
};

/// A random network on the CPU that computes in bf16 with the plain backend.
Model bf16_model(const Json& config);

}  // namespace pardec::test
