#pragma once
#include <cstddef>
#include <cstdint>

namespace pardec {

// Weights in the layout that kernels stream: panels of 32 outputs, with the inputs in pairs, so
// that a product reads memory from front to back. Missing rows and inputs of a panel are zero.
//
// bf16: a pair of inputs takes 128 bytes, two registers of 16 outputs each.
//   pair k:  { w[0][2 k], w[0][2 k + 1],  w[1][2 k], w[1][2 k + 1], ... w[31][2 k + 1] }
//
// int8: row-wise, as in LLM.int8() (arXiv:2208.07339) without its outliers. The scale of a row is
// its largest absolute value; a weight is q * scale / 127.
//   float32 scale[32], then pairs as above with one byte per number
//
// nf4: blocks of 64 inputs, as in QLoRA (arXiv:2305.14314) without its double quantisation. The
// scale of a block is its largest absolute value; a weight is kNf4[q] * scale, rounded to bf16.
//   float32 scale[32], then 16 lines of 64 bytes: 16 words of 32 bits. A line has two pairs of
//   inputs. Word 2 o + i contains, from bit 4 (4 p + v) on, q of output 8 v + o and input i of pair
//   p.

inline constexpr std::int64_t kPanel = 32;     ///< outputs of a panel
inline constexpr std::int64_t kNf4Block = 64;  ///< inputs that share a scale

inline constexpr std::int64_t kScaleBytes = kPanel * 4;  ///< bytes of a panel's scales
/// bytes of a block
inline constexpr std::int64_t kNf4Bytes = kScaleBytes + kPanel * kNf4Block / 2;

enum class WeightType { bf16, int8, nf4 };

/// The sixteen levels of NF4 (QLoRA, appendix E), with bitsandbytes' values.
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

/// Packed weights of a linear map. Does not own the memory.
struct PackedMatrix {
  const std::byte* panels = nullptr;
  std::int64_t outputs = 0, inputs = 0;
  WeightType type = WeightType::bf16;

  std::int64_t panel_count() const { return (outputs + kPanel - 1) / kPanel; }
  std::int64_t panel_bytes() const;
  const std::byte* panel(std::int64_t p) const { return panels + p * panel_bytes(); }
};

/// Bytes of a packed matrix.
std::int64_t packed_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type);

/// Bytes of the weights and scales alone, without the padding of panels.
std::int64_t weight_bytes(std::int64_t outputs, std::int64_t inputs, WeightType type);

/// Row `output` of the matrix, unpacked to float32: [inputs]. REQUIRES: 0 <= output < outputs.
void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row);

}  // namespace pardec
