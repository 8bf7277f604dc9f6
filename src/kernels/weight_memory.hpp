#pragma once
#include <cstddef>
#include <cstdint>

namespace pardec {

/// One allocation for packed weights, from which pieces are taken. The allocation is in large pages
/// if the system provides them. (With small pages, address translation makes a product a tenth
/// slower.) The memory is zero until it is written.
class WeightMemory {
 public:
  WeightMemory() = default;
  /// `bytes`: the sum of taken() over all pieces. RunError: the system refuses the allocation.
  explicit WeightMemory(std::int64_t bytes);
  ~WeightMemory();
  WeightMemory(WeightMemory&& other) noexcept;
  WeightMemory& operator=(WeightMemory&& other) noexcept;

  /// The size given to the constructor.
  std::int64_t bytes() const { return bytes_; }

  /// Takes the next `bytes` bytes of the memory, aligned to a cache line. These bytes remain valid
  /// as long as this object, or the object to which it is moved. REQUIRES: enough memory is left;
  /// otherwise std::logic_error.
  std::byte* take(std::int64_t bytes);
  /// The number of bytes that take(bytes) uses: `bytes` rounded up to whole cache lines.
  static std::int64_t taken(std::int64_t bytes);

 private:
  void* mapping_ = nullptr;
  std::int64_t mapped_ = 0, bytes_ = 0, used_ = 0;
  std::byte* begin_ = nullptr;
};

}  // namespace pardec
