#pragma once
#include <cstdint>

namespace pardec {

// The kernels are compiled once for each instruction set, and the linker must not merge the copies.
// Therefore these functions have internal linkage. They do not call std::bit_cast, because the
// linker may merge the copies of a template.

/// Converts bf16, which is the upper half of a float32, to float32.
static inline float widen(std::uint16_t x) {
  return __builtin_bit_cast(float, std::uint32_t{x} << 16);
}

/// Converts float32 to bf16. Rounds to nearest, ties to even; NaN stays NaN. Has no branches, so
/// that compilers vectorise loops that call it.
static inline std::uint16_t narrow(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16;
  const std::uint32_t quiet = bits >> 16 | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

/// Converts float16 to float32, exactly. Has no branches, so that compilers vectorise loops that
/// call it. Its intermediate values are not subnormal, since some kernels treat subnormal numbers
/// as zero.
static inline float widen_half(std::uint16_t x) {
  const std::uint32_t size = (x & 0x7FFFu) << 13, exponent = size & 0x0F800000u;
  const std::uint32_t more = exponent == 0x0F800000u ? 0x70000000u : 0x38000000u;  // infinite, NaN
  const float normal = __builtin_bit_cast(float, size + more);
  const float subnormal = __builtin_bit_cast(float, size + 0x38800000u) - 0x1p-14f;
  const auto bits = __builtin_bit_cast(std::uint32_t, exponent == 0 ? subnormal : normal);
  return __builtin_bit_cast(float, bits | (x & 0x8000u) << 16);
}

}  // namespace pardec
