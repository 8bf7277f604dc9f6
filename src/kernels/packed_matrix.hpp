#pragma once
#include <cstddef>
#include <cstdint>

namespace pardec {

// The layout of packed weights: panels of 32 outputs, with the inputs in pairs. A product reads a
// panel from front to back. A panel is padded with zeros to 32 outputs, and to whole pairs of
// inputs (nf4: whole blocks). Below, w[o][i] is the weight of output o of the panel and input i.
//
// bf16: a pair of inputs takes 128 bytes, i.e. two registers with 16 outputs each.
//   pair k:  { w[0][2 k], w[0][2 k + 1],  w[1][2 k], w[1][2 k + 1], ... w[31][2 k + 1] }
//
// int8: the weights of each output are quantised with a scale of their own, as in LLM.int8()
// (arXiv:2208.07339), but without separate outliers. The scale is the largest absolute value of
// these weights. A weight is q * scale / 127, where q is a signed byte.
//   float32 scale[32], then the pairs as for bf16, with one byte q per number
//
// nf4: blocks of 64 weights (64 inputs of one output) are quantised with a scale of their own, as
// in QLoRA (arXiv:2305.14314), but without double quantisation. The scale of a block is its largest
// absolute value. A weight is kNf4[q] * scale, rounded to bf16, where q is a number of 4 bits. For
// each 64 inputs, a panel stores the blocks of its 32 outputs together:
//   float32 scale[32], then 16 lines of 64 bytes, with two pairs of inputs each. A line has 16
//   words of 32 bits. Each word packs 8 numbers q: in word 2 o + i, the four bits from bit
//   4 (4 p + v) on are q of output 8 v + o and of input i of pair p (o = 0 ... 7, v = 0 ... 3;
//   i and p are 0 or 1).
//
// q4_0, q4_1, q4_k, q8_0: the numbers of a GGUF file (ggml-common.h), rearranged. A weight is
// scale * q + least. The weights of a block (32 inputs of one output) share the scale and the
// minimum, `least`. The number q is stored as a code: 4 bits for q + 8 in q4_0, 4 bits for q in
// q4_1 and q4_k, a signed byte in q8_0. In q4_0 and q8_0, `least` is 0. The number of inputs is a
// multiple of 32 (q4_k: of 256). For each 32 inputs, a panel stores the blocks of its 32 outputs
// together:
//   q4_0: float16 scale[32], codes
//   q4_1: float16 scale[32], float16 least[32], codes
//   q8_0: float16 scale[32], then the pairs as for int8, with one byte q per number
//   q4_k: before each 8 blocks, float16 d[32], float16 m[32]; then for each block uint8 s[32],
//         uint8 l[32], codes. scale = d * s, least = -(m * l).
// Codes of 4 bits take 8 lines of 64 bytes, with two pairs of inputs each. A line has 32 words of
// 16 bits. In word 2 o + i, the four bits from bit 4 (2 p + h) on are the code of output 16 h + o
// and of input i of pair p (o = 0 ... 15; h, i and p are 0 or 1).

inline constexpr std::int64_t kPanel = 32;     ///< outputs of a panel
inline constexpr std::int64_t kNf4Block = 64;  ///< inputs that share a scale in nf4

/// bytes of one float32 for each output of a panel
inline constexpr std::int64_t kScaleBytes = kPanel * 4;
/// bytes of a block of 64 inputs in nf4, for all outputs of a panel
inline constexpr std::int64_t kNf4Bytes = kScaleBytes + kPanel * kNf4Block / 2;

/// inputs that share a scale in the types of GGUF files
inline constexpr std::int64_t kSharedInputs = 32;
/// bytes of one float16 for each output of a panel
inline constexpr std::int64_t kHalfBytes = kPanel * 2;
/// bytes of the 4-bit codes of a block of 32 inputs, for all outputs of a panel
inline constexpr std::int64_t kNibbleBytes = kPanel * kSharedInputs / 2;
/// bytes of a block of 32 inputs, for all outputs of a panel. q4_k: a block has kQ4KPartBytes, and
/// 8 blocks with their common factors d and m have kQ4KBytes.
inline constexpr std::int64_t kQ40Bytes = kHalfBytes + kNibbleBytes,
                              kQ41Bytes = 2 * kHalfBytes + kNibbleBytes,
                              kQ80Bytes = kHalfBytes + kPanel * kSharedInputs,
                              kQ4KPartBytes = 2 * kPanel + kNibbleBytes,
                              kQ4KBytes = 2 * kHalfBytes + 8 * kQ4KPartBytes;

/// The number type of packed weights. The comment at the beginning of this file describes each.
enum class WeightType { bf16, int8, nf4, q4_0, q4_1, q4_k, q8_0 };

/// Whether the type is a type of GGUF files, which store numbers in blocks.
static constexpr bool in_blocks(WeightType type) { return type >= WeightType::q4_0; }
/// Whether the type has a minimum for each block of 32 inputs (`least`).
static constexpr bool has_least(WeightType type) {
  return type == WeightType::q4_1 || type == WeightType::q4_k;
}

/// The sixteen levels of NF4 (QLoRA, appendix E), with the values of bitsandbytes.
inline constexpr float kNf4[16] = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

/// The packed weights of a linear map. This struct does not own the memory.
struct PackedMatrix {
  const std::byte* panels = nullptr;  ///< panel_count() panels of panel_bytes() bytes each
  std::int64_t outputs = 0, inputs = 0;
  WeightType type = WeightType::bf16;

  std::int64_t panel_count() const { return (outputs + kPanel - 1) / kPanel; }
  std::int64_t panel_bytes() const;  ///< bytes of one panel
  /// The memory of panel `p`.
  const std::byte* panel(std::int64_t p) const { return panels + p * panel_bytes(); }
};

/// The size of a block in a GGUF file: a row of a matrix is stored in blocks of `inputs` numbers,
/// which take `bytes` bytes each.
struct FileBlock {
  std::int64_t inputs, bytes;
};
/// The size of the blocks of a type. REQUIRES: in_blocks(type).
FileBlock file_block(WeightType type);

/// The parts of a block of 32 inputs in a panel.
struct PackedBlock {
  const std::byte* shared;  ///< q4_k: d and m; otherwise null
  const std::byte* scales;  ///< scales, then minima if has_least; q4_k: s and l
  const std::byte* codes;
};
/// The parts of a block of the panel at `panel`. `block`: index of the block of 32 inputs, from 0.
/// REQUIRES: in_blocks(type).
static constexpr PackedBlock packed_block(WeightType type, const std::byte* panel,
                                          std::int64_t block) {
  switch (type) {
    case WeightType::q4_0: {
      const std::byte* at = panel + block * kQ40Bytes;
      return {nullptr, at, at + kHalfBytes};
    }
    case WeightType::q4_1: {
      const std::byte* at = panel + block * kQ41Bytes;
      return {nullptr, at, at + 2 * kHalfBytes};
    }
    case WeightType::q4_k: {
      const std::byte* shared = panel + block / 8 * kQ4KBytes;
      const std::byte* at = shared + 2 * kHalfBytes + block % 8 * kQ4KPartBytes;
      return {shared, at, at + 2 * kPanel};
    }
    default: {
      const std::byte* at = panel + block * kQ80Bytes;
      return {nullptr, at, at + kHalfBytes};
    }
  }
}

/// Number of bytes of a packed matrix, including the padding of panels.
std::int64_t packed_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type);

/// Number of bytes of weights and scales, without the padding of panels.
std::int64_t weight_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type);

/// Packs 32 rows into one panel of PackedMatrix::panel_bytes() bytes. A row is given as its bytes
/// in the GGUF file. A null row is packed as zeros. REQUIRES: in_blocks(type); `inputs` is a
/// multiple of file_block(type).inputs.
void pack_blocks(WeightType type, const std::byte* const* rows, std::int64_t inputs,
                 std::byte* panel);

/// Unpacks one row of the matrix to float32, [inputs]. REQUIRES: 0 <= output < matrix.outputs.
void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row);

}  // namespace pardec
