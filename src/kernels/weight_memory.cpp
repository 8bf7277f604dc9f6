#include "src/kernels/weight_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kLargePage = std::int64_t{2} << 20, kLine = 64;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

WeightMemory::WeightMemory(std::int64_t bytes)
    : mapped_(rounded_up(bytes, kLargePage) + kLargePage), bytes_(bytes) {
  mapping_ = ::mmap(nullptr, static_cast<size_t>(mapped_), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED)
    throw RunError(str("no memory for ", bytes, " bytes of weights: ", std::strerror(errno)));
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  const auto skipped = -address % static_cast<std::uintptr_t>(kLargePage);
  begin_ = static_cast<std::byte*>(mapping_) + skipped;
#ifdef MADV_HUGEPAGE
  ::madvise(begin_, static_cast<size_t>(mapped_ - kLargePage), MADV_HUGEPAGE);
#endif
}

WeightMemory::~WeightMemory() {
  if (mapping_) ::munmap(mapping_, static_cast<size_t>(mapped_));
}

WeightMemory::WeightMemory(WeightMemory&& other) noexcept { *this = std::move(other); }

WeightMemory& WeightMemory::operator=(WeightMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(bytes_, other.bytes_);
  std::swap(used_, other.used_);
  std::swap(begin_, other.begin_);
  return *this;
}

std::int64_t WeightMemory::taken(std::int64_t bytes) { return rounded_up(bytes, kLine); }

std::byte* WeightMemory::take(std::int64_t bytes) {
  if (used_ + taken(bytes) > bytes_)
    throw std::logic_error("WeightMemory: more is taken than was asked for");
  std::byte* piece = begin_ + used_;
  used_ += taken(bytes);
  return piece;
}

}  // namespace pardec
