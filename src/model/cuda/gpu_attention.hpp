#pragma once
#include <span>
#include <vector>

#include "src/kernels/cuda/kernels.hpp"
#include "src/model/backend.hpp"
#include "src/model/cuda/gpu.hpp"
#include "src/model/network.hpp"

namespace pardec {

/// Sizes of the kernels' inputs in one pass. See kernels.hpp for tiles and pieces.
struct PassShape {
  std::int64_t rows = 0, sequences = 0, tiles = 0;
  std::int64_t pieces = 0;  ///< pieces of keys and values in one layer
  std::int64_t words = 0;   ///< 32-bit words of visibility bits
  std::int64_t labels = 0;  ///< labels of the keys of all sequences
  /// Number of keys in the longest sequence. It determines into how many parts the kernels split
  /// the keys.
  std::int64_t longest = 0;
  bool operator==(const PassShape&) const = default;
};

/// The kernels' inputs for one pass (src/kernels/cuda/kernels.hpp), on the host.
struct GpuPass {
  /// REQUIRES: at least one row.
  GpuPass(const Model::Network& network, std::span<const NewRows> sequences);
  PassShape shape() const;

  std::vector<std::int64_t> ids, positions;  // one per row
  // The other vectors are described at the members of cuda::Attention with the same names.
  std::vector<std::int32_t> row_sequences;
  std::vector<cuda::Sequence> sequences;
  std::vector<cuda::Tile> tiles;
  std::vector<std::int32_t> piece_ends;  // of the pieces in one layer
  std::vector<cuda::Piece> pieces;       // layer by layer
  std::vector<std::uint32_t> sees;
  std::vector<cuda::KeyLabel> labels;

 private:
  void add(const Model::Network& network, const NewRows& rows);
};

/// Computes the same as CachedAttention, with the project's GPU kernels. The kernels evaluate
/// visibility themselves, so no mask is built. This object owns the memory of all inputs that
/// differ between passes of one shape. Therefore a recorded pass can be replayed with new inputs.
class GpuAttention {
 public:
  /// Whether the kernels support the network, and its passes can be recorded. The kernels require
  /// bf16, a head_dim that is a multiple of 16 and at most 256, no soft cap of attention scores,
  /// and no sinks (BlockSpec::sinks). A pass through layers with experts cannot be recorded.
  static bool fits(const Model::Network& network);

  /// `shape`: the largest pass that this object accepts (see set_pass). Smaller passes are padded
  /// to this shape. REQUIRES: fits(network). `network` and `gpu` must outlive this object.
  GpuAttention(const Model::Network& network, const PassShape& shape, Gpu& gpu);

  /// Copies the inputs of a pass to the GPU. Later calls of `attend` compute this pass. REQUIRES:
  /// no size of the pass is larger than the same size in the constructor's `shape`, except
  /// `longest`.
  void set_pass(GpuPass pass);

  /// Token ids and positions of the rows on the GPU, [shape.rows] int64 each.
  at::Tensor ids() const, positions() const;
  /// See CachedAttention::attend; n is shape.rows. The outputs of padding rows have no meaning, and
  /// no cache stores their keys and values.
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v) const;

 private:
  const Model::Network& network_;
  Gpu& gpu_;
  PassShape shape_;
  struct Places {  // byte offsets of GpuPass's vectors
    std::int64_t ids, positions, pieces, sequences, tiles, row_sequences, piece_ends, sees, labels,
        end;
  } places_;
  at::Tensor host_, device_;  // same content
  cuda::Attention attention_{};
};

}  // namespace pardec
