#pragma once
// A network's layers as tensor operations. The attention is a parameter: over KV caches, with the
// project's GPU kernels, or for training.
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

/// Applies an RMS norm. An undefined `weight` means that the network has no such norm; the function
/// then returns `x` itself.
at::Tensor normed(const at::Tensor& x, const Norm& norm, const ModelConfig& config);

/// Cosines and sines of the rotation angles of n rows, [n, 1, rope.dims / 2]. For queries, they
/// include the attention scale 1 / sqrt(query_scalar), which then costs nothing. The query's
/// dimensions that are not rotated are multiplied by `q_scale`.
struct Rotation {
  at::Tensor q_cos, q_sin, k_cos, k_sin;
  double q_scale;
};
/// One Rotation for each of the network's rotary embeddings.
class Rotations {
 public:
  Rotations(const Model::Network& network, const at::Tensor& positions);
  const Rotation& of(size_t layer) const { return by_kind_[config_.rope_kind(layer)]; }

 private:
  const ModelConfig& config_;
  std::vector<Rotation> by_kind_;
};

/// The first layer's input: rows of the embedding times BlockSpec::embedding_scale.
at::Tensor scaled_embedding(const at::Tensor& rows, const ModelConfig& config);

/// x plus a sublayer's output: with the norm after the sublayer and the factor, if there are any.
at::Tensor with_residual(const at::Tensor& x, const at::Tensor& out, const Norm& norm,
                         const ModelConfig& config);

/// x [n, heads, head_dim] with the first rope.dims dimensions of a head in the order that `rotate`
/// takes. Queries and keys in one order have the same products as in another.
at::Tensor in_turning_order(const at::Tensor& x, const ModelConfig& config);

/// Rotary embedding of x [n, heads, head_dim]. Of the first rope.dims dimensions, dimension i is
/// rotated together with dimension i + rope.dims / 2. The other dimensions are not rotated; they
/// are multiplied by `scale`.
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin,
                  double scale = 1);

/// Applies several linear maps to `x` [n, in]; returns [n, out] for each. On the CPU without
/// gradients, the threads of the team compute parts of the outputs, with the same results.
std::vector<at::Tensor> products(std::initializer_list<const Linear*> maps, const at::Tensor& x);

/// Applies a layer's attention sublayer to x [n, hidden]; returns [n, hidden]. `attend(q, k, v)`
/// gets q [n, heads, head_dim], and k and v [n, kv_heads, head_dim]; it returns [n, heads *
/// head_dim].
template <typename Attend>
at::Tensor apply_attention(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                           const Rotation& turn, Attend&& attend) {
  const std::int64_t n = x.size(0), dim = config.head_dim;
  const at::Tensor h = normed(x, layer.input_norm, config);
  const bool whole = config.block.qk_norm == QkNorm::whole;
  const auto prepared = [&](const at::Tensor& rows, const Norm& norm, int heads) {
    const at::Tensor by_head = (whole ? normed(rows, norm, config) : rows).view({n, heads, dim});
    return in_turning_order(whole ? by_head : normed(by_head, norm, config), config);
  };
  const auto qkv = products({&layer.q, &layer.k, &layer.v}, h);
  const at::Tensor q = prepared(qkv[0], layer.q_norm, config.heads);
  const at::Tensor k = prepared(qkv[1], layer.k_norm, config.kv_heads);
  const at::Tensor v = qkv[2].view({n, config.kv_heads, dim});
  const at::Tensor mixed =
      attend(rotate(q, turn.q_cos, turn.q_sin, turn.q_scale), rotate(k, turn.k_cos, turn.k_sin), v);
  return with_residual(x, products({&layer.o}, mixed)[0], layer.after_attention, config);
}

/// x [n, hidden] plus the output of the MLP. The MLP reads x, or `input` [n, hidden], the layer's
/// input, if the sublayers are parallel.
at::Tensor apply_mlp(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                     const at::Tensor& input);

/// Computes all layers; returns the last layer's output, [n, hidden]. `attention.attend(layer, q,
/// k, v)` has the shapes of `attend` in apply_attention.
template <typename Attention>
at::Tensor apply_layers(const Model::Network& network, const at::Tensor& ids,
                        const at::Tensor& positions, Attention& attention,
                        const SkippedSublayers& skipped) {
  const Rotations turns(network, positions);
  at::Tensor x = scaled_embedding(at::embedding(network.embedding, ids), network.config);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const auto attend = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
      return attention.attend(i, q, k, v);
    };
    const Layer& layer = network.layers[i];
    const at::Tensor input = x;
    if (!skipped.skips_attention(i))
      x = apply_attention(layer, network.config, x, turns.of(i), attend);
    if (!skipped.skips_mlp(i)) x = apply_mlp(layer, network.config, x, input);
  }
  return x;
}

/// Token ids and positions of rows, one sequence after another.
struct RowInputs {
  std::vector<std::int64_t> ids, positions;
  void add(std::span<const Token> tokens, std::span<const RowLabel> labels) {
    ids.insert(ids.end(), tokens.begin(), tokens.end());
    for (const RowLabel& label : labels) positions.push_back(label.position);
  }
};

}  // namespace pardec
