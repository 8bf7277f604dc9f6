#pragma once
#include <cstdint>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/packed_matrix.hpp"

namespace pardec {

// The CPU's inner loops: plain pointers, no allocation, no threads, no exceptions. bf16 is the
// upper half of a float32. Sums are float32; a result is rounded once, to nearest even. A result
// does not depend on the number of rows that are computed together, nor on how the work is split.

/// x times the transpose of packed weights.
struct Product {
  PackedMatrix weights;
  /// [rows, x_stride] bf16; only the first `inputs` of each row are used
  const std::uint16_t* x = nullptr;
  std::int64_t rows = 0, x_stride = 0;
  /// per output, in the panels' order, padded to whole panels; null: no bias
  const float* bias = nullptr;
  enum class Finish {
    store,  ///< out [rows, out_stride] float32 = sum + bias
    add,    ///< out += sum + bias
    /// gated [rows, out_stride] bf16 = silu(a) * b. A panel p has 16 outputs a and the 16 b that
    /// belong to them, which give columns 16 p .. 16 p + 15 of `gated`.
    swiglu,
    geglu,  ///< the same with gelu(a) by tanh: a / (1 + e^-2u), u = sqrt(2/pi) (a + .044715 a^3)
  } finish = Finish::store;
  float* out = nullptr;
  std::uint16_t* gated = nullptr;
  std::int64_t out_stride = 0;
};

/// Attention of some queries over the keys of one key head. The keys can come in several pieces, in
/// the order of the sequence's slots. Each call then continues from the states of the previous one,
/// and the result is bitwise equal to one call over all keys.
struct Attention {
  struct Token {
    const std::uint16_t* query = nullptr;  ///< [dim] at g * dim for head g of the group
    std::uint16_t* out = nullptr;          ///< same layout; may be the same memory
    /// Bit k % 32 of word k / 32: whether the token sees key k. Bits from `end` on are zero. If no
    /// bit is set, the result is zero.
    const std::uint32_t* mask = nullptr;
    float* state = nullptr;  ///< [attention_state(group, dim)], if there are several pieces
  };
  const Token* tokens = nullptr;
  std::int64_t count = 0, group = 0;  ///< number of tokens, and of query heads that share the keys
  std::int64_t dim = 0;               ///< even
  const std::uint16_t* keys = nullptr;    ///< panels of 32 keys, [ceil(end / 32)][dim / 2][32][2]
  const std::uint16_t* values = nullptr;  ///< [end, dim]
  std::int64_t end = 0;
  /// the blocks of 32 keys that at least one token sees, ascending
  const std::int32_t* blocks = nullptr;
  std::int64_t block_count = 0;
  float scale = 1;  ///< factor of the products of queries with keys
  /// A scaled product s becomes cap * tanh(s / cap); 0: no cap.
  float cap = 0;
  bool first = true, last = true;  ///< whether these keys are the first piece, and the last piece
};

/// Floats of scratch memory for an Attention of this shape; REQUIRES 64-byte alignment.
std::int64_t attention_scratch(std::int64_t tokens, std::int64_t group, std::int64_t dim);
/// Floats of a token's state between two pieces.
std::int64_t attention_state(std::int64_t group, std::int64_t dim);

/// The two largest of some values. Of equal values, the first counts as larger. If any value is
/// NaN, `best_value` is NaN.
struct TopTwo {
  std::int64_t best = 0, second = 0;
  float best_value = 0, second_value = 0;
};

struct Kernels {
  /// Computes panels [begin, end) of the product.
  void (*multiply)(const Product& product, std::int64_t begin, std::int64_t end);

  /// Packs 32 rows of [inputs] bf16 into one panel, and quantises them if the type requires it.
  /// Null rows become zeros. Rows to be quantised must be finite.
  void (*pack_panel)(WeightType type, const std::uint16_t* const* rows, std::int64_t inputs,
                     std::byte* panel);

  /// Keys and values that are not finite make the results of tokens that see them NaN.
  void (*attend)(const Attention& attention, float* scratch);

  /// out = weight * x / sqrt(mean(x^2) + eps), [size]; rounded to bf16 (rms_norm) or float32
  /// (rms_norm_wide).
  void (*rms_norm)(const float* x, const float* weight, std::int64_t size, float eps,
                   std::uint16_t* out);
  void (*rms_norm_wide)(const float* x, const float* weight, std::int64_t size, float eps,
                        float* out);

  /// Rotary embedding of a head [size]. Of its first 2 * half dimensions, dimension i is rotated
  /// together with dimension i + half; the rest is unchanged. REQUIRES: 2 * half <= size.
  void (*rotate)(const float* x, const float* cos, const float* sin, std::int64_t half,
                 std::int64_t size, std::uint16_t* out);

  /// The same for a key, written to its lane of a panel of 32 keys: pair i of the result is at lane
  /// + 64 * i.
  void (*rotate_key)(const float* x, const float* cos, const float* sin, std::int64_t half,
                     std::int64_t size, std::uint16_t* lane);

  /// bf16(x), [size].
  void (*narrow)(const float* x, std::int64_t size, std::uint16_t* out);

  /// REQUIRES: size >= 2.
  TopTwo (*top_two)(const float* x, std::int64_t size);
};

/// REQUIRES: `set` is one of instruction_sets(); otherwise std::logic_error.
const Kernels& kernels(InstructionSet set);

}  // namespace pardec
