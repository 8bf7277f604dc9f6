#include <immintrin.h>

#include "src/kernels/bf16.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kMostRows = 14;  // 28 registers of sums, 2 of weights, 1 of x

template <int kRows>
void accumulate_rows(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t x_stride,
                     std::int64_t pairs, float* sums, bool first, std::uintptr_t ahead,
                     std::uintptr_t ahead_step) {
  const auto before = static_cast<__mmask16>(first ? 0 : 0xFFFF);
  __m512 sum[kRows][2];
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < 2; ++j)
      sum[r][j] = _mm512_maskz_loadu_ps(before, sums + r * kPanel + 16 * j);
  for (std::int64_t k = 0; k < pairs; ++k, panel += 2 * kPanel, ahead += ahead_step) {
    const auto a = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
    const auto b = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + kPanel));
    _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      int pair;
      __builtin_memcpy(&pair, x + r * x_stride + 2 * k, sizeof pair);
      const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      sum[r][0] = _mm512_dpbf16_ps(sum[r][0], a, both);
      sum[r][1] = _mm512_dpbf16_ps(sum[r][1], b, both);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < 2; ++j) _mm512_storeu_ps(sums + r * kPanel + 16 * j, sum[r][j]);
}

void accumulate(std::int64_t rows, const std::uint16_t* panel, const std::uint16_t* x,
                std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                std::uintptr_t ahead, std::uintptr_t ahead_step) {
  constexpr decltype(&accumulate_rows<1>) kByRows[] = {
      accumulate_rows<1>,  accumulate_rows<2>,  accumulate_rows<3>,  accumulate_rows<4>,
      accumulate_rows<5>,  accumulate_rows<6>,  accumulate_rows<7>,  accumulate_rows<8>,
      accumulate_rows<9>,  accumulate_rows<10>, accumulate_rows<11>, accumulate_rows<12>,
      accumulate_rows<13>, accumulate_rows<14>};
  kByRows[rows - 1](panel, x, x_stride, pairs, sums, first, ahead, ahead_step);
}

/// 16 x 16 values of 32 bits, in place.
inline void transpose(__m512i (&m)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
  }
  for (int i = 0; i < 16; i += 4)
    for (int j = 0; j < 2; ++j) {
      m[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + 2 + j]);
      m[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + 2 + j]);
    }
  // m[4 i + j] has, in quarter q, column 4 q + j of rows 4 i .. 4 i + 3.
  for (int j = 0; j < 4; ++j) {
    const __m512i ab02 = _mm512_shuffle_i32x4(m[j], m[4 + j], 0x88);
    const __m512i ab13 = _mm512_shuffle_i32x4(m[j], m[4 + j], 0xDD);
    const __m512i cd02 = _mm512_shuffle_i32x4(m[8 + j], m[12 + j], 0x88);
    const __m512i cd13 = _mm512_shuffle_i32x4(m[8 + j], m[12 + j], 0xDD);
    t[j] = _mm512_shuffle_i32x4(ab02, cd02, 0x88);
    t[8 + j] = _mm512_shuffle_i32x4(ab02, cd02, 0xDD);
    t[4 + j] = _mm512_shuffle_i32x4(ab13, cd13, 0x88);
    t[12 + j] = _mm512_shuffle_i32x4(ab13, cd13, 0xDD);
  }
  for (int i = 0; i < 16; ++i) m[i] = t[i];
}

/// As Kernels::pack_panel; 16 rows of 16 pairs are one transposition.
void pack_panel(const std::uint16_t* const* rows, std::int64_t inputs, std::uint16_t* panel) {
  for (std::int64_t half = 0; half < kPanel; half += 16)
    for (std::int64_t k = 0; k < inputs; k += 32) {
      const std::int64_t count = inputs - k < 32 ? inputs - k : 32;
      const auto present = static_cast<__mmask32>((std::uint64_t{1} << count) - 1);
      __m512i m[16];
      for (int i = 0; i < 16; ++i)
        m[i] = rows[half + i] ? _mm512_maskz_loadu_epi16(present, rows[half + i] + k)
                              : _mm512_setzero_si512();
      transpose(m);
      for (int i = 0; i < (count + 1) / 2; ++i)
        _mm512_storeu_si512(panel + (k + 2 * i) * kPanel + 2 * half, m[i]);
    }
}

/// values [keys, dim], at most 32 keys, to panels of 32 columns whose inputs are 32 keys:
/// [ceil(dim / 32)][16][32][2].
void pack_value_pairs(const std::uint16_t* values, std::int64_t keys, std::int64_t dim,
                      std::uint16_t* panels) {
  // Columns 0..15 of two keys side by side, then 16..31.
  alignas(64) std::uint16_t near[32], far[32];
  for (std::uint16_t j = 0; j < 16; ++j) {
    near[2 * j] = j, near[2 * j + 1] = static_cast<std::uint16_t>(32 + j);
    far[2 * j] = static_cast<std::uint16_t>(16 + j);
    far[2 * j + 1] = static_cast<std::uint16_t>(48 + j);
  }
  const __m512i first = _mm512_load_si512(near), second = _mm512_load_si512(far);
  for (std::int64_t column = 0; column < dim; column += kPanel) {
    const std::int64_t width = dim - column < kPanel ? dim - column : kPanel;
    const auto present = static_cast<__mmask32>((std::uint64_t{1} << width) - 1);
    for (std::int64_t key = 0; key < kPanel; key += 2, panels += 2 * kPanel) {
      const std::uint16_t* at = values + key * dim + column;
      const __m512i a = key < keys ? _mm512_maskz_loadu_epi16(present, at) : _mm512_setzero_si512();
      const __m512i b =
          key + 1 < keys ? _mm512_maskz_loadu_epi16(present, at + dim) : _mm512_setzero_si512();
      _mm512_storeu_si512(panels, _mm512_permutex2var_epi16(a, first, b));
      _mm512_storeu_si512(panels + kPanel, _mm512_permutex2var_epi16(a, second, b));
    }
  }
}

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& avx512_bf16_kernels() {
  static constexpr Kernels kTable{multiply,      pack_panel, attend,     rms_norm,
                                  rms_norm_wide, rotate,     narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
