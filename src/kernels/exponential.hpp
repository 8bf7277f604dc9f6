#pragma once
#include <cstdint>

namespace pardec {

/// A finite number below all attention scores. Attention uses it instead of -infinity.
constexpr float kNothing = -3.0e38f;

/// e^x; x is first clamped to [-87, 88], and NaN stays NaN. With x = n ln(2) + r and
/// |r| <= ln(2) / 2, the result is 2^n times the Taylor polynomial of degree 7 of e^r. The relative
/// error of this polynomial is below 6e-9, before rounding to float32.
static inline float exponential(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23: adding it rounds to whole numbers
  const float n = (x * 1.44269504f + kShift) - kShift;
  // ln(2) in two parts; the first is short enough for an exact product with n.
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const auto power = static_cast<std::uint32_t>(static_cast<std::int32_t>(n) + 127) << 23;
  return p * __builtin_bit_cast(float, power);
}

}  // namespace pardec
