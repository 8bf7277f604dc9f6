#pragma once
#include <functional>
#include <memory>

#include "src/kernels/cuda/kernels.hpp"

namespace pardec {

/// What is asked of a GPU beside libtorch. All of it is queued on the current stream; RunError
/// where the GPU refuses.
class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual int multiprocessors() const = 0;  ///< that work is to be found for

  /// As cuda::store and cuda::attend.
  virtual void store(const cuda::Attention& attention, const std::uint16_t* keys,
                     const std::uint16_t* values) = 0;
  virtual void attend(const cuda::Attention& attention) = 0;

  /// Work that was recorded, to be done again and again.
  class Recording {
   public:
    virtual ~Recording() = default;
    virtual void replay() = 0;
  };
  /// Records what `work` queues, with every pointer and size as it is now; none of it is done. The
  /// memory that `work` takes and gives back is the recording's. REQUIRES: the same work was done
  /// before, and waits for nothing; where it writes outlives the recording.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& work) = 0;
};

}  // namespace pardec
