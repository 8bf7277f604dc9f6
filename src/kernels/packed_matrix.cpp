#include "src/kernels/packed_matrix.hpp"

#include <cstring>

#include "src/kernels/bf16.hpp"

namespace pardec {

namespace {

template <typename Value>
Value load(const std::byte* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float bf16_weight(const std::byte* panel, std::int64_t output, std::int64_t input) {
  return widen(load<std::uint16_t>(panel + 2 * (input / 2 * 2 * kPanel + 2 * output + input % 2)));
}

float int8_weight(const std::byte* panel, std::int64_t output, std::int64_t input) {
  const auto q =
      load<std::int8_t>(panel + kScaleBytes + input / 2 * 2 * kPanel + 2 * output + input % 2);
  return static_cast<float>(q) * load<float>(panel + 4 * output) * (1.0f / 127);
}

float nf4_weight(const std::byte* panel, std::int64_t output, std::int64_t input) {
  const std::byte* block = panel + input / kNf4Block * kNf4Bytes;
  const std::int64_t pair = input % kNf4Block / 2;
  const std::byte* line = block + kScaleBytes + pair / 2 * 64;
  const auto word = load<std::uint32_t>(line + 4 * (2 * (output % 8) + input % 2));
  const std::uint32_t q = word >> 4 * (4 * (pair % 2) + output / 8) & 15u;
  return widen(narrow(kNf4[q] * load<float>(block + 4 * output)));
}

}  // namespace

std::int64_t PackedMatrix::panel_bytes() const {
  const std::int64_t pairs = (inputs + 1) / 2;
  switch (type) {
    case WeightType::int8:
      return kScaleBytes + pairs * 2 * kPanel;
    case WeightType::nf4:
      return (inputs + kNf4Block - 1) / kNf4Block * kNf4Bytes;
    default:
      return pairs * 4 * kPanel;
  }
}

std::int64_t packed_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type) {
  const PackedMatrix matrix{nullptr, outputs, inputs, type};
  return matrix.panel_count() * matrix.panel_bytes();
}

std::int64_t weight_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type) {
  switch (type) {
    case WeightType::int8:
      return outputs * (inputs + 4);
    case WeightType::nf4:
      return outputs * ((inputs + 1) / 2 + 4 * ((inputs + kNf4Block - 1) / kNf4Block));
    default:
      return outputs * inputs * 2;
  }
}

void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row) {
  const std::byte* panel = matrix.panel(output / kPanel);
  const auto weight = matrix.type == WeightType::int8  ? int8_weight
                      : matrix.type == WeightType::nf4 ? nf4_weight
                                                       : bf16_weight;
  for (std::int64_t i = 0; i < matrix.inputs; ++i) row[i] = weight(panel, output % kPanel, i);
}

}  // namespace pardec
