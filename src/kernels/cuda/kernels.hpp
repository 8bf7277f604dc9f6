#pragma once
#include <cstdint>

// GPU kernels. Their interface has no types of libtorch: only pointers, sizes, and a stream. All
// pointers to data are to GPU memory. The kernels are compiled wherever nvcc is available, and
// linked into the program if libtorch is a CUDA build. A test runs them on the host.
namespace pardec::cuda {

/// The label of a key or query (see visibility.hpp).
struct KeyLabel {
  std::int32_t order, rank;
  std::int32_t segment;  ///< -1: a dropped key, which no query sees
  std::int32_t position;
};

/// Keys and values of some slots of a cache, [kv_heads, slots, dim] bf16 each. A block of 32 slots
/// is read as a whole, so the memory up to the next multiple of 32 slots must contain finite
/// numbers.
struct Piece {
  std::uint16_t *keys, *values;
  std::int64_t head_stride;  ///< number of elements from one head to the next
};

/// One sequence of a pass. Its keys are in one or more pieces. Each piece except the last consists
/// of whole blocks of 32 slots. The rows that the sequence has in this pass are called its new
/// rows. Their keys are the last `queries` keys of the sequence, and all of them are in the last
/// piece. The first_ members are indices in the arrays of Attention.
struct Sequence {
  std::int32_t first_query, queries;  ///< first new row in the pass; number of new rows
  std::int32_t first_label, keys;     ///< first key in `labels`; number of keys
  std::int32_t first_piece, pieces;   ///< first piece in `pieces`; number of pieces
  /// The sequence's matrix in `sees` has the shape [segments, segment_words]. first_word: its first
  /// word. segment_words: number of words in a row.
  std::int32_t first_word, segment_words;
};

/// Up to 16 query vectors of one sequence, which are computed together. A tile is computed once for
/// each key head. For one key head, the query vectors of a sequence are numbered row by row: vector
/// r belongs to new row r / group and to query head r % group of the key head, with
/// group = heads / kv_heads.
struct Tile {
  std::int32_t sequence;   ///< -1: padding
  std::int32_t first_row;  ///< number of the tile's first query vector, a multiple of 16
};

/// Attention of all new rows of a pass in one layer. The kernel evaluates visibility from the
/// labels, and skips blocks of 32 keys that no query sees. If a row sees no key, its result is
/// zero. There is no soft cap of scores, and there are no sinks.
struct Attention {
  const std::uint16_t* queries;  ///< [rows, heads, dim] bf16
  std::uint16_t* out;            ///< [rows, heads, dim] bf16
  const Sequence* sequences;
  /// [rows]: index of each row's sequence; -1: padding, for which nothing is written
  const std::int32_t* row_sequences;
  const Piece* pieces;  ///< pieces of all sequences, in this layer
  /// for each piece: number of its sequence's slots up to the end of the piece
  const std::int32_t* piece_ends;
  const KeyLabel* labels;  ///< labels of the keys of all sequences
  /// Bit matrices of all sequences: bit s % 32 of word s / 32 in row t says whether segment t sees
  /// segment s.
  const std::uint32_t* sees;
  const Tile* tiles;  ///< [tile_count]; together they contain all query vectors of the pass
  std::int32_t tile_count;
  std::int32_t rows, heads, kv_heads;  ///< number of rows, of query heads, and of key heads
  std::int32_t dim;                    ///< a multiple of 16, at most 256
  std::int32_t window;  ///< a query sees only keys less than this many positions back; 0: no limit
  float scale;          ///< factor of the products of queries and keys
  /// Number of parts into which the keys of each sequence are split. With several parts, even few
  /// queries use the whole GPU.
  std::int32_t splits;
  float* partial;  ///< scratch [rows, heads, splits, dim + 2], if splits > 1
};

/// Launches attention on `stream` (a cudaStream_t). Returns null, or the CUDA runtime's message if
/// the launch fails.
const char* attend(const Attention& attention, void* stream);

/// Copies the new rows' keys and values, [rows, kv_heads, dim] bf16 each, to the last piece of each
/// sequence. Must precede `attend` on the same stream. `stream` and result: see attend.
const char* store(const Attention& attention, const std::uint16_t* keys,
                  const std::uint16_t* values, void* stream);

/// For each row of `logits` [rows, vocab], writes the `count` best ids, the best first, to `ids`,
/// and their logits to `values`: [rows, count] each. The lower id wins a tie. NaN counts as larger
/// than any number. `stream` and result: see attend. REQUIRES: 1 <= count <= vocab.
const char* best_ids(const float* logits, std::int64_t rows, std::int64_t vocab, std::int32_t count,
                     std::int32_t* ids, float* values, void* stream);

}  // namespace pardec::cuda
