#pragma once
#include <cstdint>
#include <utility>

namespace pardec {

/// Unpacks the scale and the minimum of a group of 32 numbers, 6 bits each, as ggml's types Q4_K
/// and Q5_K store them. `packed`: 12 bytes with the scales and minima of 8 groups. `group`: 0 to 7.
/// Source: get_scale_min_k4 of ggml-quants.c.
static inline std::pair<int, int> scale_and_least(const std::uint8_t* packed, int group) {
  if (group < 4) return {packed[group] & 0x3F, packed[group + 4] & 0x3F};
  const int at = group - 4;
  return {(packed[8 + at] & 0xF) | ((packed[at] >> 2) & 0x30),
          (packed[8 + at] >> 4) | ((packed[4 + at] >> 2) & 0x30)};
}

}  // namespace pardec
