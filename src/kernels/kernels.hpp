#pragma once
#include <cstdint>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/packed_matrix.hpp"

namespace pardec {

// The CPU's inner loops: plain pointers in, no allocation, no thread, no exception. bf16 is the
// upper half of a float32; sums are float32, and a result is rounded once, to nearest even. A
// result never depends on how many rows are computed together, nor on how the work is cut up.

/// x times the transpose of packed weights.
struct Product {
  PackedMatrix weights;
  const std::uint16_t* x = nullptr;  ///< [rows, x_stride] bf16; the first `inputs` of a row count
  std::int64_t rows = 0, x_stride = 0;
  const float* bias = nullptr;  ///< by output, in the panels' order, whole panels; null: none
  enum class Finish {
    store,   ///< out [rows, out_stride] float32 = sum + bias
    add,     ///< out += sum + bias
    swiglu,  ///< gated [rows, out_stride] bf16 = silu(a) * b, where a panel has 16 outputs a and
             ///< their 16 b: column 16 p + j of `gated` is from panel p
  } finish = Finish::store;
  float* out = nullptr;
  std::uint16_t* gated = nullptr;
  std::int64_t out_stride = 0;
};

/// Attention of some queries to the keys of one head. The keys can come in several pieces, in the
/// order of one sequence's slots: what one call leaves in the states the next one goes on from, and
/// the results are those of one call over all the keys, bit by bit.
struct Attention {
  struct Token {
    const std::uint16_t* query = nullptr;  ///< head g of the group: [dim] at g * dim
    std::uint16_t* out = nullptr;          ///< the same; may be the same memory
    /// Bit k % 32 of word k / 32 says whether it sees key k. Bits from `end` on are zero. A token
    /// that sees nothing gets zeros.
    const std::uint32_t* mask = nullptr;
    float* state = nullptr;  ///< [attention_state(group, dim)], where there are several pieces
  };
  const Token* tokens = nullptr;
  std::int64_t count = 0, group = 0;      ///< tokens, and heads that share the keys
  std::int64_t dim = 0;                   ///< even
  const std::uint16_t* keys = nullptr;    ///< panels of 32 keys, [ceil(end / 32)][dim / 2][32][2]
  const std::uint16_t* values = nullptr;  ///< [end, dim]
  std::int64_t end = 0;
  const std::int32_t* blocks =
      nullptr;  ///< those blocks of 32 keys that some token sees, ascending
  std::int64_t block_count = 0;
  float scale = 1;                 ///< of query times key
  bool first = true, last = true;  ///< whether these keys are the first, the last piece
};

/// Floats of scratch that an Attention of that shape needs, 64-byte aligned.
std::int64_t attention_scratch(std::int64_t tokens, std::int64_t group, std::int64_t dim);
/// Floats of a token's state between two pieces.
std::int64_t attention_state(std::int64_t group, std::int64_t dim);

/// The two largest of some values; the first of equal ones counts as the larger. Where any value is
/// NaN, `best_value` is.
struct TopTwo {
  std::int64_t best = 0, second = 0;
  float best_value = 0, second_value = 0;
};

struct Kernels {
  /// Panels [begin, end) of the product.
  void (*multiply)(const Product& product, std::int64_t begin, std::int64_t end);

  /// Packs, and where the type says so quantises, 32 rows of [inputs] bf16 into one panel; null
  /// rows become zeros. A quantised row is all zero or has no number that is not finite.
  void (*pack_panel)(WeightType type, const std::uint16_t* const* rows, std::int64_t inputs,
                     std::byte* panel);

  /// What is not finite in a key or value that a token sees makes numbers of its result NaN.
  void (*attend)(const Attention& attention, float* scratch);

  /// out = weight * x / sqrt(mean(x^2) + eps), [size]; rounded to bf16, or not.
  void (*rms_norm)(const float* x, const float* weight, std::int64_t size, float eps,
                   std::uint16_t* out);
  void (*rms_norm_wide)(const float* x, const float* weight, std::int64_t size, float eps,
                        float* out);

  /// Rotary embedding of a head [size], of which the first 2 half turn: the pairs that turn
  /// together are half apart. REQUIRES: 2 half <= size.
  void (*rotate)(const float* x, const float* cos, const float* sin, std::int64_t half,
                 std::int64_t size, std::uint16_t* out);

  /// The same of a key, into its place in a panel of 32: pair i of the result is at lane + 64 i.
  void (*rotate_key)(const float* x, const float* cos, const float* sin, std::int64_t half,
                     std::int64_t size, std::uint16_t* lane);

  /// bf16(x), [size]
  void (*narrow)(const float* x, std::int64_t size, std::uint16_t* out);

  /// REQUIRES: size >= 2.
  TopTwo (*top_two)(const float* x, std::int64_t size);
};

/// REQUIRES: `set` is one of instruction_sets(); otherwise std::logic_error.
const Kernels& kernels(InstructionSet set);

}  // namespace pardec
