#include <immintrin.h>

#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/plain_primitives.inl"

constexpr std::int64_t kMostRows = 4;

/// Half a panel, 16 outputs, at a time: 2 registers of sums a row, 4 of weights.
template <int kRows>
void accumulate_rows(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t x_stride,
                     std::int64_t pairs, float* sums, bool first, std::uintptr_t ahead,
                     std::uintptr_t ahead_step) {
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000u));
  for (std::int64_t half = 0; half < kPanel; half += kPanel / 2) {
    __m256 sum[kRows][2];
    for (int r = 0; r < kRows; ++r)
      for (int j = 0; j < 2; ++j)
        sum[r][j] = first ? _mm256_setzero_ps() : _mm256_loadu_ps(sums + r * kPanel + half + 8 * j);
    const std::uint16_t* at = panel + 2 * half;
    std::uintptr_t line = ahead + static_cast<std::uintptr_t>(4 * half);
    for (std::int64_t k = 0; k < pairs; ++k, at += 2 * kPanel, line += ahead_step) {
      _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0);
      __m256 even[2], odd[2];
      for (int j = 0; j < 2; ++j) {
        const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at) + j);
        even[j] = _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
        odd[j] = _mm256_castsi256_ps(_mm256_and_si256(w, upper));
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        int pair;
        __builtin_memcpy(&pair, x + r * x_stride + 2 * k, sizeof pair);
        const __m256i both = _mm256_set1_epi32(pair);
        const __m256 a = _mm256_castsi256_ps(_mm256_slli_epi32(both, 16));
        const __m256 b = _mm256_castsi256_ps(_mm256_and_si256(both, upper));
        for (int j = 0; j < 2; ++j)
          sum[r][j] = _mm256_fmadd_ps(b, odd[j], _mm256_fmadd_ps(a, even[j], sum[r][j]));
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int j = 0; j < 2; ++j) _mm256_storeu_ps(sums + r * kPanel + half + 8 * j, sum[r][j]);
  }
}

void accumulate(std::int64_t rows, const std::uint16_t* panel, const std::uint16_t* x,
                std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                std::uintptr_t ahead, std::uintptr_t ahead_step) {
  switch (rows) {
    case 1:
      return accumulate_rows<1>(panel, x, x_stride, pairs, sums, first, ahead, ahead_step);
    case 2:
      return accumulate_rows<2>(panel, x, x_stride, pairs, sums, first, ahead, ahead_step);
    case 3:
      return accumulate_rows<3>(panel, x, x_stride, pairs, sums, first, ahead, ahead_step);
    default:
      return accumulate_rows<4>(panel, x, x_stride, pairs, sums, first, ahead, ahead_step);
  }
}

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& avx2_kernels() {
  static constexpr Kernels kTable{multiply, pack_panel, attend,     rms_norm, rms_norm_wide,
                                  rotate,   rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
