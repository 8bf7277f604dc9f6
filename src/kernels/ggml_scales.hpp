#pragma once
#include <cstdint>
#include <utility>

namespace pardec {

/// The 6-bit scale and minimum of one of 8 groups of 32 numbers, packed in 12 bytes. ggml's types
/// Q4_K and Q5_K have them.
static inline std::pair<int, int> scale_and_least(const std::uint8_t* packed, int group) {
  if (group < 4) return {packed[group] & 0x3F, packed[group + 4] & 0x3F};
  const int at = group - 4;
  return {(packed[8 + at] & 0xF) | ((packed[at] >> 2) & 0x30),
          (packed[8 + at] >> 4) | ((packed[4 + at] >> 2) & 0x30)};
}

}  // namespace pardec
