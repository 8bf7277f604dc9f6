#include "src/kernels/packed_matrix.hpp"

#include <cstring>

#include "src/kernels/bf16.hpp"
#include "src/kernels/ggml_scales.hpp"

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

// ---- types of GGUF files ----

constexpr std::int64_t kHalfBlock = kSharedInputs / 2;
constexpr std::int64_t kSuper = 256;  // inputs of a block of q4_k in the file

/// The place of 4 bits in the codes of a block, in the lower or the upper half of a byte.
struct Nibble {
  std::int64_t byte;
  int shift;
};
Nibble nibble_place(std::int64_t output, std::int64_t input) {
  const std::int64_t word = 2 * (output % (kPanel / 2)) + input % 2;
  return {input / 4 * 64 + 2 * word + input / 2 % 2, output < kPanel / 2 ? 0 : 4};
}
/// The place of a byte in the codes of a block.
std::int64_t byte_place(std::int64_t output, std::int64_t input) {
  return input / 2 * 2 * kPanel + 2 * output + input % 2;
}

std::byte* writable(const std::byte* part) { return const_cast<std::byte*>(part); }

void pack_nibble(const PackedBlock& block, std::int64_t output, std::int64_t input,
                 std::uint32_t q) {
  const Nibble place = nibble_place(output, input);
  writable(block.codes)[place.byte] |= static_cast<std::byte>(q << place.shift);
}

/// The bytes of a float16.
void copy_half(const std::byte* from, const std::byte* halves, std::int64_t output) {
  std::memcpy(writable(halves) + 2 * output, from, 2);
}

/// A block of q4_0, q4_1 or q8_0.
void pack_simple(WeightType type, const std::byte* from, const PackedBlock& block,
                 std::int64_t output) {
  copy_half(from, block.scales, output);
  const std::byte* codes = from + 2;
  if (has_least(type)) {
    copy_half(codes, block.scales + kHalfBytes, output);
    codes += 2;
  }
  if (type == WeightType::q8_0) {
    for (std::int64_t i = 0; i < kSharedInputs; ++i)
      writable(block.codes)[byte_place(output, i)] = codes[i];
    return;
  }
  for (std::int64_t i = 0; i < kHalfBlock; ++i) {
    const auto both = std::to_integer<std::uint32_t>(codes[i]);
    pack_nibble(block, output, i, both & 15u);
    pack_nibble(block, output, i + kHalfBlock, both >> 4);
  }
}

/// One of the 8 blocks of 32 inputs in a file's block of q4_k.
void pack_one_of_8(const std::byte* from, std::int64_t part, const PackedBlock& block,
                   std::int64_t output) {
  copy_half(from, block.shared, output);
  copy_half(from + 2, block.shared + kHalfBytes, output);
  const auto [scale, least] =
      scale_and_least(reinterpret_cast<const std::uint8_t*>(from + 4), static_cast<int>(part));
  writable(block.scales)[output] = static_cast<std::byte>(scale);
  writable(block.scales)[kPanel + output] = static_cast<std::byte>(least);
  const std::byte* codes = from + 16 + part / 2 * kSharedInputs;
  const int shift = part % 2 == 0 ? 0 : 4;
  for (std::int64_t i = 0; i < kSharedInputs; ++i)
    pack_nibble(block, output, i, std::to_integer<std::uint32_t>(codes[i]) >> shift & 15u);
}

float half_at(const std::byte* halves, std::int64_t output) {
  return widen_half(load<std::uint16_t>(halves + 2 * output));
}

/// The products and sums are in the order of gguf-py's `dequantize`.
void unpack_block(WeightType type, const PackedBlock& block, std::int64_t output, float* row) {
  float scale, least = 0;
  if (type == WeightType::q4_k) {
    scale = half_at(block.shared, output) *
            static_cast<float>(std::to_integer<int>(block.scales[output]));
    least = -(half_at(block.shared + kHalfBytes, output) *
              static_cast<float>(std::to_integer<int>(block.scales[kPanel + output])));
  } else {
    scale = half_at(block.scales, output);
    if (has_least(type)) least = half_at(block.scales + kHalfBytes, output);
  }
  for (std::int64_t i = 0; i < kSharedInputs; ++i) {
    int q;
    if (type == WeightType::q8_0) {
      q = load<std::int8_t>(block.codes + byte_place(output, i));
    } else {
      const Nibble place = nibble_place(output, i);
      q = (std::to_integer<int>(block.codes[place.byte]) >> place.shift & 15) -
          (type == WeightType::q4_0 ? 8 : 0);
    }
    row[i] = scale * static_cast<float>(q) + least;
  }
}

}  // namespace

FileBlock file_block(WeightType type) {
  switch (type) {
    case WeightType::q4_0:
      return {kSharedInputs, 2 + kHalfBlock};
    case WeightType::q4_1:
      return {kSharedInputs, 4 + kHalfBlock};
    case WeightType::q4_k:
      return {kSuper, 4 + 12 + kSuper / 2};
    default:
      return {kSharedInputs, 2 + kSharedInputs};
  }
}

std::int64_t PackedMatrix::panel_bytes() const {
  const std::int64_t pairs = (inputs + 1) / 2;
  switch (type) {
    case WeightType::int8:
      return kScaleBytes + pairs * 2 * kPanel;
    case WeightType::nf4:
      return (inputs + kNf4Block - 1) / kNf4Block * kNf4Bytes;
    case WeightType::q4_0:
      return inputs / kSharedInputs * kQ40Bytes;
    case WeightType::q4_1:
      return inputs / kSharedInputs * kQ41Bytes;
    case WeightType::q4_k:
      return inputs / kSuper * kQ4KBytes;
    case WeightType::q8_0:
      return inputs / kSharedInputs * kQ80Bytes;
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
    case WeightType::bf16:
      return outputs * inputs * 2;
    default: {
      const FileBlock block = file_block(type);
      return outputs * (inputs / block.inputs * block.bytes);
    }
  }
}

void pack_blocks(WeightType type, const std::byte* const* rows, std::int64_t inputs,
                 std::byte* panel) {
  const PackedMatrix matrix{panel, kPanel, inputs, type};
  std::memset(panel, 0, static_cast<size_t>(matrix.panel_bytes()));
  const FileBlock in_file = file_block(type);
  const std::int64_t parts = in_file.inputs / kSharedInputs;
  for (std::int64_t output = 0; output < kPanel; ++output)
    for (std::int64_t b = 0; rows[output] && b < inputs / kSharedInputs; ++b) {
      const std::byte* from = rows[output] + b / parts * in_file.bytes;
      const PackedBlock block = packed_block(type, panel, b);
      if (type == WeightType::q4_k)
        pack_one_of_8(from, b % parts, block, output);
      else
        pack_simple(type, from, block, output);
    }
}

void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row) {
  const std::byte* panel = matrix.panel(output / kPanel);
  if (in_blocks(matrix.type)) {
    for (std::int64_t b = 0; b < matrix.inputs / kSharedInputs; ++b)
      unpack_block(matrix.type, packed_block(matrix.type, panel, b), output % kPanel,
                   row + b * kSharedInputs);
    return;
  }
  const auto weight = matrix.type == WeightType::int8  ? int8_weight
                      : matrix.type == WeightType::nf4 ? nf4_weight
                                                       : bf16_weight;
  for (std::int64_t i = 0; i < matrix.inputs; ++i) row[i] = weight(panel, output % kPanel, i);
}

}  // namespace pardec
