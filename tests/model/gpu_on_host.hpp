#pragma once
// A GPU that is really the host: its kernels run thread by thread (cuda_on_host.hpp).
#include "src/model/cuda/gpu.hpp"
#include "src/model/model.hpp"

namespace pardec::test {

/// A recording repeats the recorded work, and sees only what that work holds: arguments that
/// kernels get by value must be unchanged.
class GpuOnHost : public Gpu {
 public:
  explicit GpuOnHost(int multiprocessors, bool backwards = false)
      : multiprocessors_(multiprocessors), backwards_(backwards) {}
  int multiprocessors() const override { return multiprocessors_; }
  void store(const cuda::Attention& attention, const std::uint16_t* keys,
             const std::uint16_t* values) override;
  void attend(const cuda::Attention& attention) override;
  std::unique_ptr<Recording> record(const std::function<void()>& work) override;

 private:
  struct Work;
  /// Whether the kernel is to be run.
  bool note(const cuda::Attention& attention);

  int multiprocessors_;
  bool backwards_;
  Work* recording_ = nullptr;  // of the two, at most one
  Work* replaying_ = nullptr;
};

/// A random network on the CPU that computes in bf16 and is not packed.
Model bf16_model(const Json& config);

}  // namespace pardec::test
