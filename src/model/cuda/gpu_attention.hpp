#pragma once
#include <span>
#include <vector>

#include "src/kernels/cuda/kernels.hpp"
#include "src/model/backend.hpp"
#include "src/model/cuda/gpu.hpp"
#include "src/model/network.hpp"

namespace pardec {

/// How much there is of what the kernels are told of a pass.
struct PassShape {
  std::int64_t rows = 0, sequences = 0, tiles = 0;
  std::int64_t pieces = 0;  ///< of keys and values, in a layer
  std::int64_t words = 0;   ///< of who sees whom
  std::int64_t labels = 0;
  std::int64_t longest = 0;  ///< keys of the longest sequence
  bool operator==(const PassShape&) const = default;
};

/// What the kernels are told of a pass (kernels.hpp), on the host.
struct GpuPass {
  /// REQUIRES: some rows.
  GpuPass(const Model::Network& network, std::span<const NewRows> sequences);
  PassShape shape() const;

  std::vector<std::int64_t> ids, positions;  // of the rows
  std::vector<std::int32_t> row_sequences;
  std::vector<cuda::Sequence> sequences;
  std::vector<cuda::Tile> tiles;
  std::vector<std::int32_t> piece_ends;
  std::vector<cuda::Piece> pieces;  // of all layers, one after another
  std::vector<std::uint32_t> sees;
  std::vector<cuda::KeyLabel> labels;

 private:
  void add(const Model::Network& network, const NewRows& rows);
};

/// As CachedAttention, by the GPU's own kernels: who sees whom is evaluated there, and no mask is
/// made. All that differs from one pass of a shape to the next lies in memory of its own.
class GpuAttention {
 public:
  /// Whether the kernels can do the network's attention: bf16, a head_dim that they take.
  static bool fits(const Model::Network& network);

  /// For passes of up to this shape, whose rest is padding. REQUIRES: fits(network). `network` and
  /// `gpu` outlive it.
  GpuAttention(const Model::Network& network, const PassShape& shape, Gpu& gpu);

  /// The pass that is computed from now on.
  void tell(GpuPass pass);

  at::Tensor ids() const, positions() const;  ///< [shape.rows] int64
  /// As CachedAttention::attend, of shape.rows rows. What it gives padding rows means nothing, and
  /// no cache has them.
  at::Tensor attend(size_t layer, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v) const;

 private:
  const Model::Network& network_;
  Gpu& gpu_;
  PassShape shape_;
  struct Places {  // in bytes, of what GpuPass has
    std::int64_t ids, positions, pieces, sequences, tiles, row_sequences, piece_ends, sees, labels,
        end;
  } places_;
  at::Tensor host_, device_;  // the same bytes
  cuda::Attention attention_{};
};

}  // namespace pardec
