#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/plain_primitives.inl"

constexpr std::int64_t kMostRows = 4, kMostMixed = 4, kBlockInputs = 512;
constexpr std::int64_t kExpanded = 256, kFewExpanded = 32;  // the two halves run interleaved

void expand_nf4(const float* scales, const std::byte* lines, std::int64_t pairs,
                std::uint16_t* out) {
  for (std::int64_t k = 0; k < pairs; ++k, out += 2 * kPanel) {
    std::uint32_t words[16];
    __builtin_memcpy(words, lines + k / 2 * 64, sizeof words);
    for (std::int64_t v = 0; v < 4; ++v)
      for (std::int64_t lane = 0; lane < 16; ++lane)
        out[16 * v + lane] =
            narrow(kNf4[words[lane] >> 4 * (4 * (k % 2) + v) & 15u] * scales[8 * v + lane / 2]);
  }
}

template <int kRows>
void accumulate_rows(const std::uint16_t* panel, const std::uint16_t* x, std::int64_t x_stride,
                     std::int64_t pairs, float* sums, bool first) {
  float sum[kRows][kPanel];
  for (int r = 0; r < kRows; ++r)
    for (std::int64_t j = 0; j < kPanel; ++j) sum[r][j] = first ? 0.0f : sums[r * kPanel + j];
  for (std::int64_t k = 0; k < pairs; ++k, panel += 2 * kPanel) {
    float even[kPanel], odd[kPanel];
    for (std::int64_t j = 0; j < kPanel; ++j)
      even[j] = widen(panel[2 * j]), odd[j] = widen(panel[2 * j + 1]);
    for (int r = 0; r < kRows; ++r) {
      const float a = widen(x[r * x_stride + 2 * k]), b = widen(x[r * x_stride + 2 * k + 1]);
      for (std::int64_t j = 0; j < kPanel; ++j) sum[r][j] += a * even[j];
      for (std::int64_t j = 0; j < kPanel; ++j) sum[r][j] += b * odd[j];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (std::int64_t j = 0; j < kPanel; ++j) sums[r * kPanel + j] = sum[r][j];
}

void accumulate(std::int64_t rows, const std::uint16_t* panel, const std::uint16_t* x,
                std::int64_t x_stride, std::int64_t pairs, float* sums, bool first,
                std::uintptr_t /*ahead*/, std::uintptr_t /*ahead_step*/) {
  switch (rows) {
    case 1:
      return accumulate_rows<1>(panel, x, x_stride, pairs, sums, first);
    case 2:
      return accumulate_rows<2>(panel, x, x_stride, pairs, sums, first);
    case 3:
      return accumulate_rows<3>(panel, x, x_stride, pairs, sums, first);
    default:
      return accumulate_rows<4>(panel, x, x_stride, pairs, sums, first);
  }
}

void expand_nibbles(const std::byte* codes, int middle, std::uint16_t* out) {
  for (std::int64_t line = 0; line < kSharedInputs / 4; ++line, out += 4 * kPanel) {
    std::uint16_t words[kPanel];
    __builtin_memcpy(words, codes + line * 64, sizeof words);
    for (int n = 0; n < 4; ++n)
      for (std::int64_t lane = 0; lane < kPanel; ++lane) {
        const auto q = static_cast<float>((words[lane] >> 4 * n & 15) - middle);
        out[n * kPanel + lane] =
            static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, q) >> 16);
      }
  }
}

bool multiply_codes(WeightType, std::int64_t, const std::byte*, const std::uint16_t*, std::int64_t,
                    float*) {
  return false;
}

#include "src/kernels/plain_blocks.inl"

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& generic_kernels() {
  static constexpr Kernels kTable{multiply,      sum_blocks, pack_panel, attend,     rms_norm,
                                  rms_norm_wide, rotate,     rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
