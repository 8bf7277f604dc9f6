#pragma once
#include <functional>
#include <memory>

#include "src/kernels/cuda/kernels.hpp"

namespace pardec {

/// The GPU functions that the project needs in addition to libtorch. All work is queued on
/// libtorch's current stream. `store`, `attend` and `record` throw RunError if the GPU reports an
/// error.
class Gpu {
 public:
  virtual ~Gpu() = default;
  /// Number of the GPU's streaming multiprocessors. Kernels split their work into enough parts for
  /// all of them.
  virtual int multiprocessors() const = 0;

  /// See cuda::store.
  virtual void store(const cuda::Attention& attention, const std::uint16_t* keys,
                     const std::uint16_t* values) = 0;
  /// See cuda::attend.
  virtual void attend(const cuda::Attention& attention) = 0;

  /// Recorded work that can be replayed any number of times.
  class Recording {
   public:
    virtual ~Recording() = default;
    /// Queues the recorded work on the current stream. c10::Error: the GPU reports an error.
    virtual void replay() = 0;
  };
  /// Records the work that `work` queues, with the current pointers and sizes, without executing
  /// this work. Memory that `work` allocates and frees belongs to the recording. REQUIRES: the same
  /// work was executed before; the work does not wait for the GPU; all other memory that the work
  /// reads or writes outlives the recording.
  virtual std::unique_ptr<Recording> record(const std::function<void()>& work) = 0;
};

}  // namespace pardec
