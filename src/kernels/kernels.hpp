#pragma once
#include <cstdint>

#include "src/kernels/instruction_set.hpp"
#include "src/kernels/packed_matrix.hpp"

namespace pardec {

// The inner loops of the CPU. They use plain pointers, allocate no memory, start no threads, and
// throw no exceptions. Sums are in float32. Each result is rounded once, to nearest even. The
// result of a row does not depend on how many rows are computed together, or on how the work is
// split.

/// The product of the rows of x and the transpose of packed weights: one row of x is the input of a
/// linear map, and one row of the result is the map's output.
struct Product {
  PackedMatrix weights;
  /// [rows, x_stride] bf16; only the first weights.inputs elements of a row are used
  const std::uint16_t* x = nullptr;
  /// rows: number of rows of x. x_stride: number of elements from one row of x to the next.
  std::int64_t rows = 0, x_stride = 0;
  /// [rows, inputs / 32]: for each row of x, Kernels::sum_blocks of its inputs. Needed only if
  /// has_least(weights.type).
  const float* x_sums = nullptr;
  /// One float for each output, in the order of the panels, padded to whole panels; null: no bias.
  const float* bias = nullptr;
  /// What is done with the sums, i.e. with the elements of the product.
  enum class Finish {
    store,  ///< `out` [rows, out_stride] float32 = sum + bias
    add,    ///< `out` += sum + bias
    /// `gated` [rows, out_stride] bf16 = silu(a) * b, where a (gate) and b (up) are sum + bias. The
    /// first 16 outputs of panel p are a, and the other 16 are the corresponding b. They give
    /// columns 16 p to 16 p + 15 of `gated`.
    swiglu,
    /// As swiglu, with gelu(a) * b: gelu(a) = a / (1 + e^-2u), u = sqrt(2/pi) (a + .044715 a^3).
    geglu,
    /// As swiglu, with a / (1 + e^(-slope a)) * (b + 1), as in gpt-oss. First, a is reduced to at
    /// most `limit`, and b is clamped to [-limit, limit].
    clamped,
  } finish = Finish::store;
  float limit = 0, slope = 0;      ///< only for `clamped`
  float* out = nullptr;            ///< the result of `store` and `add`; otherwise null
  std::uint16_t* gated = nullptr;  ///< the result of the other finishes; otherwise null
  std::int64_t out_stride = 0;     ///< number of elements from one row of the result to the next
};

/// Attention of some tokens over the keys of one key head. The keys may be divided into pieces, in
/// the order of the sequence's cache slots. Kernels::attend is then called once for each piece, and
/// continues from the states that the previous call wrote. The result has the same bits as one call
/// over all keys.
struct Attention {
  /// A token whose queries attend to the keys.
  struct Token {
    /// [group, dim] bf16: one query for each query head that shares the key head.
    const std::uint16_t* query = nullptr;
    /// [group, dim] bf16, written only in the call for the last piece (Attention::last). May be the
    /// memory of `query` if there is one piece.
    std::uint16_t* out = nullptr;
    /// [ceil(end / 32)]. Bit k % 32 of word k / 32: whether the token sees key k of the piece. Bits
    /// from Attention::end on are zero. If a token sees no key of any piece, its result is zero.
    const std::uint32_t* mask = nullptr;
    /// [attention_state(group, dim)], written by one call and read by the next. Used only if there
    /// is more than one piece.
    float* state = nullptr;
  };
  const Token* tokens = nullptr;
  /// count: number of tokens. group: number of query heads for each key head.
  std::int64_t count = 0, group = 0;
  std::int64_t dim = 0;  ///< dimensions of a head, an even number
  /// Panels of 32 keys, [ceil(end / 32)][dim / 2][32][2] bf16; see Kernels::rotate_key.
  const std::uint16_t* keys = nullptr;
  const std::uint16_t* values = nullptr;  ///< [end, dim] bf16
  std::int64_t end = 0;                   ///< number of keys in the piece
  /// [block_count]: the indices, ascending, of the blocks of 32 keys in which some token sees a
  /// key. Block 0 is the first of the piece.
  const std::int32_t* blocks = nullptr;
  std::int64_t block_count = 0;
  float scale = 1;  ///< factor of the products of queries and keys
  float cap = 0;    ///< a score s, after scaling, becomes cap * tanh(s / cap); 0: no cap
  /// [group]: for each query head, the score of an attention sink: e^sink is added to the
  /// denominator of the softmax. `scale` and `cap` do not apply to sinks. Null: there are none.
  const float* sinks = nullptr;
  bool first = true, last = true;  ///< whether this piece is the first, and the last
};

/// Number of floats of scratch memory that Kernels::attend needs. `tokens`: Attention::count. The
/// memory must be aligned to 64 bytes.
std::int64_t attention_scratch(std::int64_t tokens, std::int64_t group, std::int64_t dim);
/// Number of floats of a token's state between two pieces.
std::int64_t attention_state(std::int64_t group, std::int64_t dim);

/// The two largest values of a row, and their indices. Of equal values, the first counts as larger.
/// If any value is NaN, `best_value` is NaN and the other members have no meaning.
struct TopTwo {
  std::int64_t best = 0, second = 0;
  float best_value = 0, second_value = 0;
};

/// The functions of one instruction set.
struct Kernels {
  /// Computes those outputs of the product whose weights are in the panels [begin, end).
  void (*multiply)(const Product& product, std::int64_t begin, std::int64_t end);

  /// out[b] = the sum of x[32 b] to x[32 b + 31]. `x`: [size] bf16. `out`: [size / 32]. REQUIRES:
  /// `size` is a multiple of 32.
  void (*sum_blocks)(const std::uint16_t* x, std::int64_t size, float* out);

  /// Packs 32 rows of a matrix, [inputs] bf16 each, into one panel of PackedMatrix::panel_bytes()
  /// bytes. Quantises the rows if the type is int8 or nf4. A null row is packed as zeros. REQUIRES:
  /// not in_blocks(type), for which pack_blocks exists; for int8 and nf4, the rows are finite.
  void (*pack_panel)(WeightType type, const std::uint16_t* const* rows, std::int64_t inputs,
                     std::byte* panel);

  /// Computes attention. `scratch`: see attention_scratch. If a key has a NaN, the results are NaN
  /// for exactly the tokens that see the key. An infinite key has the same effect, except on a
  /// token whose score for the key is -infinity: this token gives the key almost no weight. If an
  /// element of Attention::values is not finite, the results of all tokens may be NaN.
  void (*attend)(const Attention& attention, float* scratch);

  /// out = weight * x / sqrt(mean(x^2) + eps), as bf16 (rms_norm) or float32 (rms_norm_wide). `x`,
  /// `weight`, `out`: [size].
  void (*rms_norm)(const float* x, const float* weight, std::int64_t size, float eps,
                   std::uint16_t* out);
  void (*rms_norm_wide)(const float* x, const float* weight, std::int64_t size, float eps,
                        float* out);

  /// Applies the rotary embedding to one head: `x` and `out` are [size], `cos` and `sin` are
  /// [half]. Dimension i < half is rotated together with dimension i + half. The dimensions from
  /// 2 * half on are not rotated. The result is bf16. REQUIRES: 2 * half <= size.
  void (*rotate)(const float* x, const float* cos, const float* sin, std::int64_t half,
                 std::int64_t size, std::uint16_t* out);

  /// Applies the rotary embedding to a key, as `rotate` does, and writes the result into a panel of
  /// 32 keys (Attention::keys): dimensions 2 i and 2 i + 1 go to lane[64 i] and lane[64 i + 1].
  /// `lane`: the place of the key's first dimension, i.e. panel + 2 * k for key k of the panel.
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
