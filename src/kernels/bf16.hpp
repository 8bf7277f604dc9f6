#pragma once
#include <cstdint>

namespace pardec {

// The kernels are compiled once per instruction set, and the linker must not merge the copies.
// Therefore these functions have internal linkage and do not call std::bit_cast.

/// Converts bf16, which is the upper half of a float32, to float32.
static inline float widen(std::uint16_t x) {
  return __builtin_bit_cast(float, std::uint32_t{x} << 16);
}

/// Converts float32 to bf16. Rounds to nearest, ties to even; NaN stays NaN. Without branches, so
/// that compilers vectorise loops with it.
static inline std::uint16_t narrow(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  const std::uint32_t quiet = bits >> 16 | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

}  // namespace pardec
