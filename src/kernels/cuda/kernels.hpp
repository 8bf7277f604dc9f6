#pragma once
#include <cstdint>

// GPU kernels with a plain interface: pointers to GPU memory, sizes, a stream; no types
// of libtorch. They are compiled wherever nvcc is available, linked into the program if its
// libtorch is a CUDA build, and run on the host by their test.
namespace pardec::cuda {

/// The label of a key or query, used by attention (see visibility.hpp).
struct KeyLabel {
  std::int32_t order, rank;
  std::int32_t segment;  ///< -1: a dead key, visible to no query
  std::int32_t position;
};

/// Keys and values of some slots in bf16: [kv_heads, slots, dim]. Memory up to a multiple of 32
/// slots contains finite numbers.
struct Piece {
  std::uint16_t *keys, *values;
  std::int64_t head_stride;  ///< distance between heads, in numbers
};

/// One sequence of a pass. Its keys lie in pieces; all pieces except the last consist of whole
/// blocks of 32 slots. The last `queries` keys are the pass's new rows, all in the last piece.
struct Sequence {
  std::int32_t first_query, queries;  ///< first of its rows in the pass, and their number
  std::int32_t first_label, keys;     ///< first of its keys' labels, and their number
  std::int32_t first_piece, pieces;
  std::int32_t first_word, segment_words;  ///< its matrix in `sees`: [segments, segment_words]
};

/// 16 rows of queries of one sequence: (token, head) pairs with one key head, token-major.
struct Tile {
  std::int32_t sequence;  ///< -1: padding
  std::int32_t first_row;
};

/// Attention of all new rows of a pass in one layer. Visibility is evaluated from the labels on the
/// fly. Blocks of 32 keys that no query sees are skipped.
struct Attention {
  const std::uint16_t* queries;  ///< [rows, heads, dim] bf16
  std::uint16_t* out;            ///< [rows, heads, dim] bf16
  const Sequence* sequences;
  const std::int32_t* row_sequences;  ///< [rows]; -1: padding, for which nothing is written
  const Piece* pieces;                ///< of all sequences, in this layer
  /// per piece: number of the sequence's slots up to the end of the piece
  const std::int32_t* piece_ends;
  const KeyLabel* labels;     ///< of all sequences
  const std::uint32_t* sees;  ///< bit s % 32 of word s / 32 in a segment's row: the segment sees s
  const Tile* tiles;
  std::int32_t tile_count;
  std::int32_t rows, heads, kv_heads;
  std::int32_t dim;     ///< a multiple of 16, at most 256
  std::int32_t window;  ///< a query sees keys less than this many positions back; 0: all
  float scale;          ///< factor of the products of queries with keys
  /// Number of parts that each sequence's keys are split into, so that even few queries occupy the
  /// whole GPU.
  std::int32_t splits;
  float* partial;  ///< [rows, heads, splits, dim + 2] if splits > 1
};

/// Queues the attention on `stream` (a cudaStream_t). Returns null, or the runtime's error message
/// for the launch.
const char* attend(const Attention& attention, void* stream);

/// Stores the new rows' keys and values, [rows, kv_heads, dim] bf16 each, where attention reads
/// them. Stream and result as for attend.
const char* store(const Attention& attention, const std::uint16_t* keys,
                  const std::uint16_t* values, void* stream);

/// Writes the `count` best ids of each row of `logits` [rows, vocab] float32, best first, and their
/// values: [rows, count] each. The lower id wins a tie; NaN counts as larger than any number.
/// REQUIRES: 1 <= count <= vocab. Stream and result as for attend.
const char* best_ids(const float* logits, std::int64_t rows, std::int64_t vocab, std::int32_t count,
                     std::int32_t* ids, float* values, void* stream);

}  // namespace pardec::cuda
