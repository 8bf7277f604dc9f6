#pragma once
#include <cstddef>
#include <cstdint>

namespace pardec {

/// One allocation for weights that are streamed, in large pages if the system provides them (small
/// pages cost a tenth of the speed in address translation). Zero until written.
class WeightMemory {
 public:
  WeightMemory() = default;
  /// RunError: the system refuses the allocation.
  explicit WeightMemory(std::int64_t bytes);
  ~WeightMemory();
  WeightMemory(WeightMemory&& other) noexcept;
  WeightMemory& operator=(WeightMemory&& other) noexcept;

  std::int64_t bytes() const { return bytes_; }

  /// The next `bytes` of the memory, starting at a cache line. REQUIRES: enough memory is left;
  /// otherwise std::logic_error.
  std::byte* take(std::int64_t bytes);
  /// Bytes that `take(bytes)` uses up.
  static std::int64_t taken(std::int64_t bytes);

 private:
  void* mapping_ = nullptr;
  std::int64_t mapped_ = 0, bytes_ = 0, used_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace pardec
