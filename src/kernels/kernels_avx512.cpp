#include <immintrin.h>

#include <utility>

#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/avx512_primitives.inl"

constexpr std::int64_t kMostRows = 14;  // 28 registers of sums, 2 of weights, 1 of x
constexpr std::int64_t kBlockInputs = 512, kExpanded = 256, kFewExpanded = 32;

struct Plain {
  const std::uint16_t* panel;
  std::uintptr_t ahead, ahead_step;

  template <typename Take>
  void each(std::int64_t pairs, Take&& take) {
    for (std::int64_t k = 0; k < pairs; ++k, panel += 2 * kPanel, ahead += ahead_step) {
      const auto a = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
      const auto b = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + kPanel));
      _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(ahead + ahead_step / 2), _MM_HINT_T0);
      take(k, a, b);
    }
  }
};

template <int kRows, typename Weights>
void accumulate_rows(Weights weights, const std::uint16_t* x, std::int64_t x_stride,
                     std::int64_t pairs, float* sums, bool first) {
  const auto before = static_cast<__mmask16>(first ? 0 : 0xFFFF);
  __m512 sum[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j)
      sum[r][j] = _mm512_maskz_loadu_ps(before, sums + r * kPanel + 16 * j);
  weights.each(
      pairs, [&](std::int64_t k, __m512bh a, __m512bh b) __attribute__((always_inline)) {
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          int pair;
          __builtin_memcpy(&pair, x + r * x_stride + 2 * k, sizeof pair);
          const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
          sum[r][0] = _mm512_dpbf16_ps(sum[r][0], a, both);
          sum[r][1] = _mm512_dpbf16_ps(sum[r][1], b, both);
        }
      });
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) _mm512_storeu_ps(sums + r * kPanel + 16 * j, sum[r][j]);
}

template <typename Weights>
void accumulate_any(std::int64_t rows, Weights weights, const std::uint16_t* x,
                    std::int64_t x_stride, std::int64_t pairs, float* sums, bool first) {
  constexpr decltype(&accumulate_rows<1, Weights>) kByRows[] = {
      accumulate_rows<1, Weights>,  accumulate_rows<2, Weights>,  accumulate_rows<3, Weights>,
      accumulate_rows<4, Weights>,  accumulate_rows<5, Weights>,  accumulate_rows<6, Weights>,
      accumulate_rows<7, Weights>,  accumulate_rows<8, Weights>,  accumulate_rows<9, Weights>,
      accumulate_rows<10, Weights>, accumulate_rows<11, Weights>, accumulate_rows<12, Weights>,
      accumulate_rows<13, Weights>, accumulate_rows<14, Weights>};
  kByRows[rows - 1](weights, x, x_stride, pairs, sums, first);
}

/// As specified in kernels_body.inl.
void accumulate(std::int64_t rows, const std::uint16_t* panel, const std::uint16_t* x,
                std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                std::uintptr_t ahead, std::uintptr_t ahead_step) {
  accumulate_any(rows, Plain{panel, ahead, ahead_step}, x, x_stride, pairs, sums, first);
}

std::int64_t accumulate_codes(std::int64_t rows, const PackedMatrix& w, const std::byte* panel,
                              const std::uint16_t* x, std::int64_t x_stride, float* sums) {
  if (rows > kMostRows) return 0;
  // inputs per pair (int8), per line (nf4)
  const std::int64_t whole = w.type == WeightType::int8 ? 2 : 4;
  const std::int64_t pairs = w.inputs / whole * whole / 2;
  with_codes(w.type, panel,
             [&](auto weights) { accumulate_any(rows, weights, x, x_stride, pairs, sums, true); });
  return 2 * pairs;
}

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& avx512_bf16_kernels() {
  static constexpr Kernels kTable{multiply,      sum_blocks, pack_panel, attend,     rms_norm,
                                  rms_norm_wide, rotate,     rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
