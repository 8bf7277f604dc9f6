#pragma once
// A network's layers as tensor operations. The attention is a parameter of these functions:
// CachedAttention, GpuAttention or TrainingAttention.
#include <initializer_list>
#include <span>
#include <vector>

#include "src/model/network.hpp"

namespace pardec {

/// The type in which norms, rotary embeddings and softmax are computed: float32, as in
/// transformers, or float64 for fp64 networks.
inline at::ScalarType wide(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

/// Applies a norm to each row of x: an RMS norm, or a layer norm if BlockSpec::layer_norm is set.
/// If norm.weight is undefined, the network has no such norm, and the function returns `x` itself.
at::Tensor normed(const at::Tensor& x, const Norm& norm, const ModelConfig& config);

/// As `normed`, but for the norm over all heads' queries or keys together (QkNorm::whole). `x`: [n,
/// columns], the columns of this process's heads. `keys`: whether x contains keys, and not queries.
/// RunError: see summed.
at::Tensor normed_over_heads(const at::Tensor& x, const Norm& norm, const Layer& layer,
                             const ModelConfig& config, bool keys);

/// The output `out` of a layer's sublayer, summed over the processes that compute the layer. If
/// there is only one process, the result is `out` itself. Otherwise, `out` must not be used
/// afterwards, because the sum may overwrite its memory. RunError: another process does not answer.
at::Tensor summed(const at::Tensor& out, const Layer& layer);

/// The rows of the embedding, [n, hidden]. `ids`: [n] int64. RunError: see summed.
at::Tensor embedded(const Model::Network& network, const at::Tensor& ids);

/// Cosines and sines of the rotation angles of n rows, [n, 1, rope.dims / 2] each. For queries,
/// they are already multiplied by the attention scale 1 / sqrt(query_scalar), so that no extra
/// operation is needed.
struct Rotation {
  at::Tensor q_cos, q_sin, k_cos, k_sin;
  double q_scale;  ///< the attention scale, for the dimensions of queries that are not rotated
};
/// One Rotation for each of the network's rotary embeddings (ModelConfig::ropes).
class Rotations {
 public:
  /// `positions`: [n] int64 on the network's device. `network` must outlive this object.
  Rotations(const Model::Network& network, const at::Tensor& positions);
  /// The rotation of a layer.
  const Rotation& of(size_t layer) const { return by_kind_[config_.rope_kind(layer)]; }

 private:
  const ModelConfig& config_;
  std::vector<Rotation> by_kind_;
};

/// The first layer's input: `rows` [n, hidden] of the embedding times BlockSpec::embedding_scale,
/// plus those of learned position embeddings, if the network has them. `positions`: [n] int64.
at::Tensor first_input(const at::Tensor& rows, const at::Tensor& positions,
                       const Model::Network& network);

/// x plus a sublayer's output `out`, both [n, hidden]. Before the sum, `norm` is applied to `out`
/// (if there is such a norm), and `out` is multiplied by BlockSpec::residual_scale.
at::Tensor with_residual(const at::Tensor& x, const at::Tensor& out, const Norm& norm,
                         const ModelConfig& config);

/// Brings the dimensions of each head of x [n, heads, head_dim] into the order that `rotate` needs.
/// If BlockSpec::neighbours_turn is set, dimensions 2i and 2i + 1 move to i and i + rope.dims / 2;
/// otherwise the result is x itself. The products of queries and keys do not change, because both
/// are reordered in the same way.
at::Tensor in_turning_order(const at::Tensor& x, const ModelConfig& config);

/// Rotary embedding of x [n, heads, head_dim], with `cos` and `sin` from a Rotation. Of the first
/// rope.dims dimensions, dimension i is rotated together with dimension i + rope.dims / 2. The
/// other dimensions are not rotated, but multiplied by `scale`.
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                  double scale = 1);

/// Applies several linear maps to `x` [n, in]; returns [n, out] for each. In float32 on the CPU
/// without gradients, the threads of the team compute parts of the outputs, with the same results.
std::vector<at::Tensor> products(std::initializer_list<const Linear*> maps, const at::Tensor& x);

/// Queries, keys and values of n rows: [n, heads * head_dim], [n, kv_heads * head_dim] twice. The
/// heads of each are in order, however the matrices are stored.
struct Projections {
  at::Tensor q, k, v;
};
/// Multiplies the normed rows `h` [n, hidden] with a layer's q, k and v.
Projections projected(const Layer& layer, const ModelConfig& config, const at::Tensor& h);

/// Applies a layer's attention sublayer to x [n, hidden], and returns x plus the output, [n,
/// hidden]. `attend(q, k, v)` receives q [n, heads, head_dim], and k and v [n, kv_heads, head_dim],
/// and returns [n, heads * head_dim]. The q and k that it receives are already rotated, and q is
/// already multiplied by the attention scale.
template <typename Attend>
at::Tensor apply_attention(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                           const Rotation& turn, Attend&& attend) {
  const std::int64_t n = x.size(0), dim = config.head_dim;
  const at::Tensor h = normed(x, layer.input_norm, config);
  const bool whole = config.block.qk_norm == QkNorm::whole;
  const auto prepared = [&](const at::Tensor& rows, const Norm& norm, int heads, bool keys) {
    const at::Tensor by_head =
        (whole ? normed_over_heads(rows, norm, layer, config, keys) : rows).view({n, heads, dim});
    return in_turning_order(whole ? by_head : normed(by_head, norm, config), config);
  };
  const Projections rows = projected(layer, config, h);
  const at::Tensor q = prepared(rows.q, layer.q_norm, config.heads, /*keys=*/false);
  const at::Tensor k = prepared(rows.k, layer.k_norm, config.kv_heads, /*keys=*/true);
  const at::Tensor v = rows.v.view({n, config.kv_heads, dim});
  const at::Tensor mixed =
      attend(rotate(q, turn.q_cos, turn.q_sin, turn.q_scale), rotate(k, turn.k_cos, turn.k_sin), v);
  return with_residual(x, summed(products({&layer.o}, mixed)[0], layer), layer.after_attention,
                       config);
}

/// Applies a layer's MLP sublayer (or its experts) to x [n, hidden], and returns x plus the output,
/// [n, hidden]. The sublayer reads x, or, if BlockSpec::parallel is set, the layer's input `input`
/// [n, hidden]. If `experts_read` is not null, the number of experts that were computed is added to
/// it.
at::Tensor apply_mlp(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                     const at::Tensor& input, std::int64_t* experts_read = nullptr);

/// Computes all layers, except the skipped sublayers, and returns the last layer's output,
/// [n, hidden]. `ids` and `positions`: [n] int64. `attention.attend(layer, q, k, v)` has the shapes
/// of `attend` in apply_attention. `experts_read`: see apply_mlp.
template <typename Attention>
at::Tensor apply_layers(const Model::Network& network, const at::Tensor& ids,
                        const at::Tensor& positions, Attention& attention,
                        const SkippedSublayers& skipped, std::int64_t* experts_read = nullptr) {
  const Rotations turns(network, positions);
  at::Tensor x = first_input(embedded(network, ids), positions, network);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const auto attend = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
      return attention.attend(i, q, k, v);
    };
    const Layer& layer = network.layers[i];
    const at::Tensor input = x;
    if (!skipped.skips_attention(i))
      x = apply_attention(layer, network.config, x, turns.of(i), attend);
    if (!skipped.skips_mlp(i)) x = apply_mlp(layer, network.config, x, input, experts_read);
  }
  return x;
}

/// Token ids and positions of rows, one sequence after another.
struct RowInputs {
  std::vector<std::int64_t> ids, positions;
  /// Appends rows, with one label per token.
  void add(std::span<const Token> tokens, std::span<const RowLabel> labels) {
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    for (const RowLabel& label : labels) positions.push_back(label.position);
  }
};

}  // namespace pardec
