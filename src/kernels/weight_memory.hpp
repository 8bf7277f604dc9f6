#pragma once
#include <cstddef>
#include <cstdint>

namespace pardec {

/// Memory for weights that are streamed: one piece, in large pages where the system has them (small
/// ones cost a tenth of the speed in address translation). Zero until written.
class WeightMemory {
 public:
  WeightMemory() = default;
  /// RunError where the system refuses it.
  explicit WeightMemory(std::int64_t bytes);
  ~WeightMemory();
  WeightMemory(WeightMemory&& other) noexcept;
  WeightMemory& operator=(WeightMemory&& other) noexcept;

  std::int64_t bytes() const { return bytes_; }

  /// The next piece of it, of `bytes`, at the start of a cache line. REQUIRES: it is there;
  /// otherwise std::logic_error.
  std::byte* take(std::int64_t bytes);
  /// Bytes that `take(bytes)` takes.
  static std::int64_t taken(std::int64_t bytes);

 private:
  void* mapping_ = nullptr;
  std::int64_t mapped_ = 0, bytes_ = 0, used_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace pardec
