#include "src/kernels/bf16.hpp"
#include "src/kernels/exponential.hpp"
#include "src/kernels/kernel_table.hpp"

namespace pardec {

namespace {

#include "src/kernels/plain_primitives.inl"

constexpr std::int64_t kMostRows = 4;

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

}  // namespace

#include "src/kernels/kernels_body.inl"

const Kernels& generic_kernels() {
  static constexpr Kernels kTable{multiply, pack_panel, attend,     rms_norm, rms_norm_wide,
                                  rotate,   rotate_key, narrow_row, top_two};
  return kTable;
}

}  // namespace pardec
