#pragma once
#include <cstdint>

// Kernels of the GPU: plain pointers to its memory, sizes, a stream; no libtorch. Compiled by nvcc
// wherever it is, linked where libtorch is a CUDA one, and run on the host by their test.
namespace pardec::cuda {

/// What attention needs to know of a key; a query has one, too (see visibility.hpp).
struct KeyLabel {
  std::int32_t order, rank;
  std::int32_t segment;  ///< -1: dead, nobody sees it
  std::int32_t position;
};

/// Keys and values of some slots, in bf16: [kv_heads, slots, dim]. Memory up to a multiple of 32
/// slots holds finite numbers.
struct Piece {
  std::uint16_t *keys, *values;
  std::int64_t head_stride;  ///< numbers from one head to the next
};

/// One sequence of a pass. Its keys lie in pieces, all of whole blocks of 32 but the last; its last
/// `queries` keys are the pass's new rows, all in the last piece.
struct Sequence {
  std::int32_t first_query, queries;  ///< rows of the pass
  std::int32_t first_label, keys;     ///< of its keys
  std::int32_t first_piece, pieces;
  std::int32_t first_word, segment_words;  ///< of `sees`: [segments, segment_words]
};

/// 16 rows of queries of one sequence: (token, head) pairs of one key head, token-major.
struct Tile {
  std::int32_t sequence;  ///< -1: padding
  std::int32_t first_row;
};

/// Attention of all new rows of a pass in one layer: who sees whom is evaluated as it runs, from
/// labels; blocks of 32 keys that nobody sees are skipped.
struct Attention {
  const std::uint16_t* queries;  ///< [rows, heads, dim] bf16
  std::uint16_t* out;            ///< the same
  const Sequence* sequences;
  const std::int32_t* row_sequences;  ///< [rows]; -1: padding, nothing is written of it
  const Piece* pieces;                ///< of all sequences, in this layer
  const std::int32_t* piece_ends;     ///< by piece: slots of its sequence up to its end
  const KeyLabel* labels;             ///< of all sequences
  const std::uint32_t* sees;          ///< bit s % 32 of word s / 32 of a segment's row: it sees s
  const Tile* tiles;
  std::int32_t tile_count;
  std::int32_t rows, heads, kv_heads;
  std::int32_t dim;     ///< a multiple of 16, at most 256
  std::int32_t window;  ///< a query sees keys less than so many positions back; 0: all
  float scale;          ///< of query times key
  /// Into how many parts a sequence's keys are cut, so that few queries keep the whole GPU busy.
  std::int32_t splits;
  float* partial;  ///< [rows, heads, splits, dim + 2] where splits > 1
};

/// Queues the attention on `stream` (a cudaStream_t). Returns null, or what the runtime says is
/// wrong with the launch.
const char* attend(const Attention& attention, void* stream);

/// The new rows' keys and values, [rows, kv_heads, dim] bf16 each, go where the attention reads
/// them. As attend.
const char* store(const Attention& attention, const std::uint16_t* keys,
                  const std::uint16_t* values, void* stream);

/// The `count` best ids of each row of `logits` [rows, vocab] float32, best first; the lower id
/// wins a tie, NaN counts as larger than any number: ids and values [rows, count]. REQUIRES: 1 <=
/// count <= vocab. As attend.
const char* best_ids(const float* logits, std::int64_t rows, std::int64_t vocab, std::int32_t count,
                     std::int32_t* ids, float* values, void* stream);

}  // namespace pardec::cuda
