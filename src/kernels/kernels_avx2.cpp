#include <immintrin.h>

#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/plain_primitives.inl"

constexpr std::int64_t kMostRows = 4, kMostMixed = 4, kBlockInputs = 512;
constexpr std::int64_t kExpanded = 256, kFewExpanded = 32;  // the two halves run interleaved

/// Rounds finite numbers to nearest, ties to even; bf16 in the lower halves.
inline __m256i rounded(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))),
                           16);
}

void expand_nf4(const float* scales, const std::byte* lines, std::int64_t pairs,
                std::uint16_t* out) {
  const __m256 low = _mm256_loadu_ps(kNf4), high = _mm256_loadu_ps(kNf4 + 8);
  // A vector has 4 outputs, with both inputs of a pair for each.
  const __m256i twice[2] = {_mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3),
                            _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7)};
  for (std::int64_t k = 0; k < pairs; ++k, out += 2 * kPanel) {
    const auto* line = reinterpret_cast<const __m256i*>(lines + k / 2 * 64);
    for (int v = 0; v < 4; ++v) {
      const __m256 scale = _mm256_loadu_ps(scales + 8 * v);
      const int shift = 4 * (4 * static_cast<int>(k % 2) + v);
      __m256i half[2];
      for (int h = 0; h < 2; ++h) {
        const __m256i q = _mm256_srl_epi32(_mm256_loadu_si256(line + h), _mm_cvtsi32_si128(shift));
        // The permutation reads the lowest 3 bits of a word; the fourth bit selects the half.
        const __m256 level =
            _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, q), _mm256_permutevar8x32_ps(high, q),
                             _mm256_castsi256_ps(_mm256_slli_epi32(q, 28)));
        half[h] = rounded(_mm256_mul_ps(level, _mm256_permutevar8x32_ps(scale, twice[h])));
      }
      const __m256i both = _mm256_permute4x64_epi64(_mm256_packus_epi32(half[0], half[1]), 0xD8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16 * v), both);
    }
  }
}

/// Half a panel (16 outputs) at a time: 2 registers of sums per row, 4 of weights.
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

/// The lower and the upper bytes of 16 values in bf16.
struct NibbleBytes {
  std::uint8_t lower[16] = {}, upper[16] = {};
  explicit constexpr NibbleBytes(int middle) {
    for (int i = 0; i < 16; ++i) {
      const auto bits = __builtin_bit_cast(std::uint32_t, static_cast<float>(i - middle));
      lower[i] = static_cast<std::uint8_t>(bits >> 16 & 255u);
      upper[i] = static_cast<std::uint8_t>(bits >> 24);
    }
  }
};
constexpr NibbleBytes kNibbles(0), kCentredNibbles(8);

void expand_nibbles(const std::byte* codes, int middle, std::uint16_t* out) {
  const NibbleBytes& table = middle == 0 ? kNibbles : kCentredNibbles;
  const auto both_halves = [](const std::uint8_t* bytes) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  };
  const __m256i lower = both_halves(table.lower), upper = both_halves(table.upper);
  const __m256i four_bits = _mm256_set1_epi8(15), low_byte = _mm256_set1_epi16(255);
  const auto store = [](std::uint16_t* to, __m256i values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
  };
  for (std::int64_t line = 0; line < kSharedInputs / 4; ++line, codes += 64, out += 4 * kPanel)
    for (int part = 0; part < 2; ++part) {  // 8 of each 16 outputs
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 32 * part));
      for (int half = 0; half < 2; ++half) {
        const __m256i q =
            _mm256_and_si256(half == 0 ? bytes : _mm256_srli_epi16(bytes, 4), four_bits);
        const __m256i l = _mm256_shuffle_epi8(lower, q), u = _mm256_shuffle_epi8(upper, q);
        std::uint16_t* to = out + 32 * half + 16 * part;
        // The lower byte of a word is of the first pair of inputs, the upper byte of the second.
        store(to, _mm256_or_si256(_mm256_and_si256(l, low_byte), _mm256_slli_epi16(u, 8)));
        store(to + 2 * kPanel,
              _mm256_or_si256(_mm256_srli_epi16(l, 8), _mm256_andnot_si256(low_byte, u)));
      }
    }
}

/// part[r][32] = x[r] times the codes of a block, in the order of accumulate_rows, so that the bits
/// are equal.
template <int kRows>
void multiply_nibbles(const std::byte* codes, const std::uint16_t* x, std::int64_t x_stride,
                      float* part) {
  const __m256i four_bits = _mm256_set1_epi32(15);
  const auto values = [&](__m256i words, int shift) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(words, shift), four_bits));
  };
  __m256 sum[kRows][4];
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < 4; ++j) sum[r][j] = _mm256_setzero_ps();
  for (std::int64_t line = 0; line < kSharedInputs / 4; ++line, codes += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(codes) + 4096),
                 _MM_HINT_T0);
    const __m256i words[2] = {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)),
                              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + 32))};
#pragma GCC unroll 2
    for (int p = 0; p < 2; ++p) {
      __m256 first[kRows], second[kRows];
      for (int r = 0; r < kRows; ++r) {
        const std::uint16_t* pair = x + r * x_stride + 4 * line + 2 * p;
        first[r] = _mm256_set1_ps(widen(pair[0]));
        second[r] = _mm256_set1_ps(widen(pair[1]));
      }
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const int shift = 4 * (2 * p + j / 2);
        const __m256 even = values(words[j % 2], shift), odd = values(words[j % 2], 16 + shift);
        for (int r = 0; r < kRows; ++r)
          sum[r][j] = _mm256_fmadd_ps(second[r], odd, _mm256_fmadd_ps(first[r], even, sum[r][j]));
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int j = 0; j < 4; ++j) _mm256_storeu_ps(part + r * kPanel + 8 * j, sum[r][j]);
}

bool multiply_codes(WeightType type, std::int64_t rows, const std::byte* codes,
                    const std::uint16_t* x, std::int64_t x_stride, float* part) {
  if (!has_least(type) || rows > 2) return false;
  (rows == 1 ? multiply_nibbles<1> : multiply_nibbles<2>)(codes, x, x_stride, part);
  return true;
}

#include "src/kernels/plain_blocks.inl"

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& avx2_kernels() {
  static constexpr Kernels kTable{multiply,      sum_blocks, pack_panel, attend,     rms_norm,
                                  rms_norm_wide, rotate,     rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
