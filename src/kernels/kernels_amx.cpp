#include <immintrin.h>

#include <utility>

#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/avx512_primitives.inl"

// A panel of weights is two tiles side by side. A tile has 16 rows of 64 bytes: 16 pairs of inputs
// by 16 outputs. Tiles 0 to 3 are sums, [rows below 16, rows from 16 on][outputs]. Tiles 4 and 5
// are the two halves of x, tiles 6 and 7 the two halves of the weights.

constexpr std::int64_t kTile = 16, kTileBytes = 64;
constexpr std::int64_t kMostRows = 2 * kTile;
// 128 KiB: tiles may also come from the second-level cache
constexpr std::int64_t kBlockInputs = 2048;
constexpr std::int64_t kExpanded = 256, kFewExpanded = kExpanded;

/// Operand of LDTILECFG.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, unused[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  TileShapes(std::int64_t below, std::int64_t above, std::int64_t pairs) {
    const std::int64_t shapes[8][2] = {{below, kTile}, {below, kTile}, {above, kTile},
                                       {above, kTile}, {below, pairs}, {above, pairs},
                                       {pairs, kTile}, {pairs, kTile}};
    for (int t = 0; t < 8; ++t)
      if (shapes[t][0] > 0) {
        rows[t] = static_cast<std::uint8_t>(shapes[t][0]);
        row_bytes[t] = static_cast<std::uint16_t>(4 * shapes[t][1]);
      }
  }
};

// The compiler's own intrinsics do not declare the memory that they read.

inline void configure(const TileShapes& shapes) { asm volatile("ldtilecfg %0" : : "m"(shapes)); }

/// Ensures that earlier writes are in memory before tiles are loaded.
inline void settle(const void* panel, const void* x, const void* sums) {
  asm volatile("" : : "r"(panel), "r"(x), "r"(sums) : "memory");
}

/// Accumulates whole tiles of pairs, with `step` pairs per tile; with kMore, also for rows from 16
/// on.
template <bool kMore>
void accumulate_tiles(std::int64_t step, const std::uint16_t* panel, const std::uint16_t* x,
                      std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                      std::uintptr_t ahead, std::uintptr_t ahead_step) {
  constexpr std::int64_t kRowBytes = kPanel * 4;  // bytes of a row of sums, and of a pair of inputs
  float* more = sums + kTile * kPanel;
  settle(panel, x, sums);
  if (first) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kMore) {
      _tile_zero(2);
      _tile_zero(3);
    }
  } else {
    _tile_loadd(0, sums, kRowBytes);
    _tile_loadd(1, sums + kTile, kRowBytes);
    if constexpr (kMore) {
      _tile_loadd(2, more, kRowBytes);
      _tile_loadd(3, more + kTile, kRowBytes);
    }
  }
  const std::uintptr_t ahead_bytes = ahead_step * static_cast<std::uintptr_t>(step);
  for (std::int64_t k = 0; k < pairs; k += step, panel += step * 2 * kPanel, x += 2 * step) {
    _tile_loadd(4, x, x_stride * 2);
    _tile_loadd(6, panel, kRowBytes);
    _tile_loadd(7, panel + kPanel, kRowBytes);
    for (const std::uintptr_t end = ahead + ahead_bytes; ahead < end; ahead += kTileBytes)
      _mm_prefetch(reinterpret_cast<const char*>(ahead), _MM_HINT_T1);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (kMore) {
      _tile_loadd(5, x + kTile * x_stride, x_stride * 2);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, sums, kRowBytes);
  _tile_stored(1, sums + kTile, kRowBytes);
  if constexpr (kMore) {
    _tile_stored(2, more, kRowBytes);
    _tile_stored(3, more + kTile, kRowBytes);
  }
}

/// As specified in kernels_body.inl.
void accumulate(std::int64_t rows, const std::uint16_t* panel, const std::uint16_t* x,
                std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                std::uintptr_t ahead, std::uintptr_t ahead_step) {
  const std::int64_t below = rows < kTile ? rows : kTile, above = rows - below;
  const auto take = [&](std::int64_t step, std::int64_t count) {
    configure(TileShapes(below, above, step));
    (above > 0 ? accumulate_tiles<true> : accumulate_tiles<false>)(step, panel, x, x_stride, count,
                                                                   sums, first, ahead, ahead_step);
    panel += count * 2 * kPanel, x += 2 * count;
    ahead += ahead_step * static_cast<std::uintptr_t>(count);
    first = false;
  };
  const std::int64_t whole = pairs / kTile * kTile;
  if (whole > 0) take(kTile, whole);
  if (whole < pairs) take(pairs - whole, pairs - whole);
  _tile_release();
}

// With few rows, computing without tiles is faster than expanding the weights for them. These
// functions reproduce the arithmetic of TDPBF16PS: it sums the first products and the second
// products of 16 pairs separately, each fused and rounded to nearest, adds both, adds the result to
// the sum, and treats subnormal numbers as zero.

constexpr std::int64_t kMostCodeRows = 3;

class FlushToZero {
 public:
  FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(0x9FC0); }  // to nearest, no exceptions
  ~FlushToZero() { _mm_setcsr(before_); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  unsigned before_;
};

/// REQUIRES: `pairs` is a multiple of 16.
template <int kRows, typename Weights>
[[gnu::noinline]] void accumulate_rows(Weights weights, const std::uint16_t* x,
                                       std::int64_t x_stride, std::int64_t pairs, float* sums) {
  const auto first = [](__m512bh pair) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(reinterpret_cast<__m512i>(pair), 16));
  };
  const auto second = [upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u))](__m512bh pair) {
    return _mm512_castsi512_ps(_mm512_and_si512(reinterpret_cast<__m512i>(pair), upper));
  };
  __m512 part[kRows][2][2];
  for (std::int64_t i = 0; i < kRows * kPanel; ++i) sums[i] = 0;
  weights.each(
      pairs, [&](std::int64_t k, __m512bh a, __m512bh b) __attribute__((always_inline)) {
        if (k % kTile == 0) {
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
            for (int j = 0; j < 2; ++j) part[r][j][0] = part[r][j][1] = _mm512_setzero_ps();
        }
        const __m512 w[2][2] = {{first(a), second(a)}, {first(b), second(b)}};
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          int pair;
          __builtin_memcpy(&pair, x + r * x_stride + 2 * k, sizeof pair);
          const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
          const __m512 one = first(both), two = second(both);
#pragma GCC unroll 2
          for (int j = 0; j < 2; ++j) {
            part[r][j][0] = _mm512_fmadd_ps(one, w[j][0], part[r][j][0]);
            part[r][j][1] = _mm512_fmadd_ps(two, w[j][1], part[r][j][1]);
          }
        }
        if (k % kTile != kTile - 1) return;
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
          for (int j = 0; j < 2; ++j) {
            float* sum = sums + r * kPanel + 16 * j;
            _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum),
                                                _mm512_add_ps(part[r][j][0], part[r][j][1])));
          }
      });
}

template <typename Weights>
void accumulate_any(std::int64_t rows, Weights weights, const std::uint16_t* x,
                    std::int64_t x_stride, std::int64_t pairs, float* sums) {
  constexpr decltype(&accumulate_rows<1, Weights>) kByRows[] = {
      accumulate_rows<1, Weights>, accumulate_rows<2, Weights>, accumulate_rows<3, Weights>};
  const FlushToZero flush;
  kByRows[rows - 1](weights, x, x_stride, pairs, sums);
}

/// As specified in kernels_body.inl. Takes whole tiles only, so that the sums equal those of
/// `accumulate`.
std::int64_t accumulate_codes(std::int64_t rows, const PackedMatrix& w, const std::byte* panel,
                              const std::uint16_t* x, std::int64_t x_stride, float* sums) {
  const std::int64_t pairs = w.inputs / (2 * kTile) * kTile;
  if (rows > kMostCodeRows || pairs == 0) return 0;
  with_codes(w.type, panel,
             [&](auto weights) { accumulate_any(rows, weights, x, x_stride, pairs, sums); });
  return 2 * pairs;
}

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& amx_bf16_kernels() {
  static constexpr Kernels kTable{multiply,      sum_blocks, pack_panel, attend,     rms_norm,
                                  rms_norm_wide, rotate,     rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
