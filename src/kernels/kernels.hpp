#pragma once
#include <cstdint>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/packed_matrix.hpp"

namespace pardec {

// The inner loops of the CPU. They use plain pointers, allocate no memory, start no threads, and
// throw no exceptions. Sums are in float32, and a result is rounded once, to nearest even. The
// result of a row does not depend on how many rows are computed together or on how the work is
// split.

/// The product of rows x with the transpose of packed weights.
struct Product {
  PackedMatrix weights;
  /// [rows, x_stride] bf16; only the first weights.inputs elements of a row are used
  const std::uint16_t* x = nullptr;
  /// Number of rows of x; number of elements from one row of x to the next.
  std::int64_t rows = 0, x_stride = 0;
  /// [rows, inputs / 32]: the sums of each row's blocks of 32 inputs, by Kernels::sum_blocks.
  /// Needed only if has_least(weights.type).
  const float* x_sums = nullptr;
  /// one per output, in the order of the panels, padded to whole panels; null: no bias
  const float* bias = nullptr;
  enum class Finish {
    store,  ///< `out` [rows, out_stride] float32 = sum + bias
    add,    ///< `out` += sum + bias
    /// `gated` [rows, out_stride] bf16 = silu(a) * b. Panel p has 16 outputs a (gate), then the 16
    /// corresponding outputs b (up). They give columns 16 p to 16 p + 15 of `gated`.
    swiglu,
    geglu,  ///< as swiglu, with gelu(a) = a / (1 + e^-2u), u = sqrt(2/pi) (a + .044715 a^3)
    /// As swiglu, with a / (1 + e^(-slope a)) * (b + 1), where a is at most `limit`, and b at most
    /// `limit` in size.
    clamped,
  } finish = Finish::store;
  float limit = 0, slope = 0;      ///< only for `clamped`
  float* out = nullptr;            ///< the result of `store` and `add`; otherwise null
  std::uint16_t* gated = nullptr;  ///< the result of a gate; null for `store` and `add`
  std::int64_t out_stride = 0;     ///< number of elements from one row of the result to the next
};

/// Attention of some tokens over the keys of one key head. The keys may be in several pieces, in
/// the order of the sequence's slots, with one call per piece. Each call continues from the states
/// of the previous call. The result is bitwise equal to that of one call over all keys.
struct Attention {
  struct Token {
    const std::uint16_t* query = nullptr;  ///< [group, dim]: one query per query head of the group
    std::uint16_t* out = nullptr;          ///< [group, dim]; may be the memory of `query`
    /// Bit k % 32 of word k / 32: whether the token sees key k of the piece. Bits from `end` on are
    /// zero. If a token sees no key, its result is zero.
    const std::uint32_t* mask = nullptr;
    /// [attention_state(group, dim)], written by one call and read by the next; only with several
    /// pieces
    float* state = nullptr;
  };
  const Token* tokens = nullptr;
  std::int64_t count = 0, group = 0;      ///< number of tokens; query heads per key head
  std::int64_t dim = 0;                   ///< dimensions of a head, an even number
  const std::uint16_t* keys = nullptr;    ///< panels of 32 keys: [ceil(end / 32)][dim / 2][32][2]
  const std::uint16_t* values = nullptr;  ///< [end, dim]
  std::int64_t end = 0;                   ///< number of keys in the piece
  /// indices of the blocks of 32 keys that at least one token sees, ascending
  const std::int32_t* blocks = nullptr;
  std::int64_t block_count = 0;
  float scale = 1;  ///< factor of the products of queries and keys
  /// A score s (after scaling) becomes cap * tanh(s / cap); 0: no cap.
  float cap = 0;
  /// [group]: a score of each query head that counts in the sum of its weights, unchanged by
  /// `scale` and `cap`; null: there are none.
  const float* sinks = nullptr;
  bool first = true, last = true;  ///< whether this piece is the first, and the last
};

/// Number of floats of scratch memory that Kernels::attend needs. The memory must be aligned to 64
/// bytes.
std::int64_t attention_scratch(std::int64_t tokens, std::int64_t group, std::int64_t dim);
/// Number of floats of a token's state between two pieces.
std::int64_t attention_state(std::int64_t group, std::int64_t dim);

/// Indices and values of the two largest values of a row. Of equal values, the first counts as
/// larger. If any value is NaN, `best_value` is NaN and the other members have no meaning.
struct TopTwo {
  std::int64_t best = 0, second = 0;
  float best_value = 0, second_value = 0;
};

/// The functions of one instruction set.
struct Kernels {
  /// Computes panels [begin, end) of the product.
  void (*multiply)(const Product& product, std::int64_t begin, std::int64_t end);

  /// out[b] = the sum of x[32 b] to x[32 b + 31], [size / 32]. REQUIRES: `size` is a multiple
  /// of 32.
  void (*sum_blocks)(const std::uint16_t* x, std::int64_t size, float* out);

  /// Packs 32 rows, [inputs] bf16 each, into one panel, and quantises them for int8 and nf4. A null
  /// row is packed as zeros. REQUIRES: the type is not in_blocks (pack_blocks); for int8 and nf4,
  /// the rows are finite.
  void (*pack_panel)(WeightType type, const std::uint16_t* const* rows, std::int64_t inputs,
                     std::byte* panel);

  /// Computes attention. `scratch`: see attention_scratch. A key with NaN makes the results of
  /// exactly those tokens NaN that see the key. So does an infinite key, except that a token whose
  /// score for the key is -infinity gives the key almost no weight. A value that is not finite may
  /// make the results of all tokens NaN.
  void (*attend)(const Attention& attention, float* scratch);

  /// out = weight * x / sqrt(mean(x^2) + eps), [size]; rounded to bf16 (rms_norm) or float32
  /// (rms_norm_wide).
  void (*rms_norm)(const float* x, const float* weight, std::int64_t size, float eps,
                   std::uint16_t* out);
  void (*rms_norm_wide)(const float* x, const float* weight, std::int64_t size, float eps,
                        float* out);

  /// Applies the rotary embedding to a head [size], with `cos` and `sin` [half]. Of the first 2 *
  /// half dimensions, dimension i is rotated together with dimension i + half; the other dimensions
  /// are not rotated. The result is rounded to bf16. REQUIRES: 2 * half <= size.
  void (*rotate)(const float* x, const float* cos, const float* sin, std::int64_t half,
                 std::int64_t size, std::uint16_t* out);

  /// Applies the rotary embedding as `rotate` does, to a key, and writes the result into a panel of
  /// 32 keys: dimensions 2 i and 2 i + 1 go to lane[64 i] and lane[64 i + 1]. `lane`: the place of
  /// the key's first dimension.
  void (*rotate_key)(const float* x, const float* cos, const float* sin, std::int64_t half,
                     std::int64_t size, std::uint16_t* lane);

  /// Converts [size] floats to bf16.
  void (*narrow)(const float* x, std::int64_t size, std::uint16_t* out);

  /// The two largest of [size] floats. REQUIRES: size >= 2.
  TopTwo (*top_two)(const float* x, std::int64_t size);
};

/// The kernels for an instruction set. REQUIRES: `set` is one of instruction_sets(); otherwise
/// std::logic_error.
const Kernels& kernels(InstructionSet set);

}  // namespace pardec
