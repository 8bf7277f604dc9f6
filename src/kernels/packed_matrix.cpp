#include "src/kernels/packed_matrix.hpp"

#include "src/kernels/bf16.hpp"

namespace pardec {

std::int64_t packed_size(std::int64_t outputs, std::int64_t inputs) {
  const PackedMatrix matrix{nullptr, outputs, inputs};
  return matrix.panel_count() * matrix.panel_size();
}

void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row) {
  const std::uint16_t* at = matrix.panel(output / kPanel) + 2 * (output % kPanel);
  for (std::int64_t i = 0; i < matrix.inputs; ++i) row[i] = widen(at[i / 2 * 2 * kPanel + i % 2]);
}

}  // namespace pardec
