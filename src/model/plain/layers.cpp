#include "src/model/plain/layers.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>

#include "src/group/group.hpp"
#include "src/model/pieces.hpp"
#include "src/model/ranks/split.hpp"

namespace pardec {

namespace {

// outputs are split in these units: whole vectors of the processor
constexpr std::int64_t kOutputs = 32;
constexpr std::int64_t kMatrixBytesOfAPiece = 128 * 1024;
// from here on, reading `x` again in each piece costs noticeable time
constexpr std::int64_t kManyRows = 32;
constexpr std::int64_t kUnitsOfMany = 6;

std::int64_t units(std::int64_t outputs) { return (outputs + kOutputs - 1) / kOutputs; }

/// Minimum number of units per piece of a product.
std::int64_t unit_grain(const at::Tensor& x, const at::Tensor& weight) {
  const std::int64_t bytes = kOutputs * weight.size(1) * weight.element_size();
  return std::max(x.size(0) < kManyRows ? 1 : kUnitsOfMany, kMatrixBytesOfAPiece / bytes);
}

bool outputs_can_be_cut(const Linear& map, const at::Tensor& x) {
  return can_be_cut(x) && x.dim() == 2 && !map.low_rank.a.defined();
}

/// Writes outputs [first, last) of the map to `out`.
void multiply(const Linear& map, const at::Tensor& x, std::int64_t first, std::int64_t last,
              at::Tensor out) {
  const at::Tensor weight = map.weight.narrow(0, first, last - first).t();
  if (map.bias.defined())
    at::addmm_out(out, map.bias.narrow(0, first, last - first), x, weight);
  else
    at::mm_out(out, x, weight);
}

}  // namespace

std::vector<at::Tensor> products(std::initializer_list<const Linear*> maps, const at::Tensor& x) {
  std::vector<at::Tensor> results;
  if (!outputs_can_be_cut(**maps.begin(), x)) {
    for (const Linear* map : maps) results.push_back((*map)(x));
    return results;
  }
  std::int64_t count = 0;
  for (const Linear* map : maps) {
    results.push_back(at::empty({x.size(0), map->weight.size(0)}, x.options()));
    count += units(map->weight.size(0));
  }
  in_pieces(count, unit_grain(x, (*maps.begin())->weight),
            [&](std::int64_t begin, std::int64_t end) {
              std::int64_t before = 0;  // units of the preceding maps
              for (size_t m = 0; m < maps.size(); ++m) {
                const Linear& map = **(maps.begin() + m);
                const std::int64_t outputs = map.weight.size(0);
                const std::int64_t first = std::max<std::int64_t>(0, begin - before) * kOutputs;
                const std::int64_t last = std::min((end - before) * kOutputs, outputs);
                if (first < last)
                  multiply(map, x, first, last, results[m].narrow(1, first, last - first));
                before += units(outputs);
              }
            });
  return results;
}

namespace {

/// libtorch's name of a form of gelu.
const char* gelu_form(Activation activation) {
  return activation == Activation::gelu ? "none" : "tanh";
}

at::Tensor after_activation(const at::Tensor& x, Activation activation) {
  return activation == Activation::silu ? at::silu(x) : at::gelu(x, gelu_form(activation));
}

/// gate * sigmoid(slope * gate) * (up + 1), with both clamped (BlockSpec::swiglu_limit).
at::Tensor clamped(const at::Tensor& gate, const at::Tensor& up, const BlockSpec& block) {
  const at::Tensor g = gate.clamp_max(block.swiglu_limit);
  const at::Tensor u = up.clamp(-block.swiglu_limit, block.swiglu_limit);
  return (u + 1) * (g * at::sigmoid(g * block.swiglu_slope));
}

/// activation(gate x) * up x
at::Tensor gated(const Linear& gate, const Linear& up, const BlockSpec& block,
                 const at::Tensor& x) {
  const Activation activation = block.activation;
  const bool clamps = block.swiglu_limit > 0;
  if (!outputs_can_be_cut(gate, x))
    return clamps ? clamped(gate(x), up(x), block) : after_activation(gate(x), activation) * up(x);
  const std::int64_t inner = gate.weight.size(0);
  at::Tensor result = at::empty({x.size(0), inner}, x.options());
  in_pieces(units(inner), unit_grain(x, gate.weight) / 2 + 1,
            [&](std::int64_t begin, std::int64_t end) {
              const std::int64_t first = begin * kOutputs, last = std::min(end * kOutputs, inner);
              at::Tensor a = at::empty({x.size(0), last - first}, x.options());
              at::Tensor b = at::empty_like(a);
              multiply(gate, x, first, last, a);
              multiply(up, x, first, last, b);
              at::Tensor out = result.narrow(1, first, last - first);
              if (clamps) {
                out.copy_(clamped(a, b, block));
                return;
              }
              const bool silu = activation == Activation::silu;
              at::mul_out(out, silu ? at::silu_(a) : at::gelu_(a, gelu_form(activation)), b);
            });
  return result;
}

}  // namespace

namespace {

/// `mean_square`: of each row, [n, 1]; undefined: it is computed from `rows`.
at::Tensor rms_norm(const at::Tensor& rows, const at::Tensor& weight, const ModelConfig& config,
                    const at::Tensor& mean_square = {}) {
  const at::ScalarType type = rows.scalar_type();
  const at::Tensor w = rows.to(wide(type));
  const at::Tensor mean =
      mean_square.defined() ? mean_square : w.square().mean(-1, /*keepdim=*/true);
  const at::Tensor normed = w * at::rsqrt(mean + config.norm_eps);
  if (config.block.norm_adds_one) return (normed * (weight.to(wide(type)) + 1)).to(type);
  return weight * normed.to(type);
}

at::Tensor layer_norm(const at::Tensor& rows, const Norm& norm, const ModelConfig& config) {
  const at::ScalarType type = rows.scalar_type();
  const at::Tensor w = rows.to(wide(type));
  const at::Tensor centred = w - w.mean(-1, /*keepdim=*/true);
  const at::Tensor scaled =
      centred * at::rsqrt(centred.square().mean(-1, /*keepdim=*/true) + config.norm_eps) *
      norm.weight.to(wide(type));
  return (norm.bias.defined() ? scaled + norm.bias.to(wide(type)) : scaled).to(type);
}

}  // namespace

at::Tensor normed(const at::Tensor& x, const Norm& norm, const ModelConfig& config) {
  if (!norm.weight.defined()) return x;
  return by_rows(x, x.scalar_type(), [&](const at::Tensor& rows) {
    return config.block.layer_norm ? layer_norm(rows, norm, config)
                                   : rms_norm(rows, norm.weight, config);
  });
}

at::Tensor normed_over_heads(const at::Tensor& x, const Norm& norm, const Layer& layer,
                             const ModelConfig& config, bool keys) {
  if (!layer.split || !norm.weight.defined()) return normed(x, norm, config);
  const NetworkSplit& split = *layer.split;
  at::Tensor squares = x.to(wide(x.scalar_type())).square().sum(-1, /*keepdim=*/true);
  if (keys && !split.share.counts_keys) squares.zero_();
  const double columns =
      double{1} * (keys ? split.whole.kv_heads : split.whole.heads) * config.head_dim;
  return rms_norm(x, norm.weight, config, sum_over(split.group, squares) / columns);
}

at::Tensor summed(const at::Tensor& out, const Layer& layer) {
  return layer.split ? sum_over(layer.split->group, out) : out;
}

at::Tensor embedded(const Model::Network& network, const at::Tensor& ids) {
  if (!network.split) return at::embedding(network.embedding, ids);
  const ItemRange& vocab = network.split->share.vocab;
  const at::Tensor places = ids - vocab.first;
  const at::Tensor elsewhere = at::logical_or(places < 0, places >= vocab.count);
  at::Tensor rows = at::embedding(network.embedding, places.clamp(0, vocab.count - 1));
  rows.masked_fill_(elsewhere.unsqueeze(1), 0);
  return sum_over(network.split->group, rows);
}

at::Tensor first_input(const at::Tensor& rows, const at::Tensor& positions,
                       const Model::Network& network) {
  const double scale = network.config.block.embedding_scale;
  // A tensor, so that the scale is rounded to the type, as in transformers.
  const at::Tensor x = scale == 1 ? rows : rows * at::full({}, scale, rows.options());
  if (!network.position_rows.defined()) return x;
  return x + at::embedding(network.position_rows, positions);
}

Projections projected(const Layer& layer, const ModelConfig& config, const at::Tensor& h) {
  if (config.block.qkv == Qkv::apart) {
    const auto all = products({&layer.q, &layer.k, &layer.v}, h);
    return {all[0], all[1], all[2]};
  }
  const std::int64_t n = h.size(0), kv = config.kv_heads, group = config.heads / kv;
  const std::int64_t dim = config.head_dim, queries = config.heads * dim, keys = kv * dim;
  const at::Tensor all = products({&layer.qkv}, h)[0];
  if (config.block.qkv == Qkv::stacked) {
    const auto parts = all.split_with_sizes({queries, keys, keys}, 1);
    return {parts[0], parts[1], parts[2].contiguous()};
  }
  const auto parts = all.view({n, kv, group + 2, dim}).split_with_sizes({group, 1, 1}, 2);
  return {parts[0].reshape({n, queries}), parts[1].reshape({n, keys}), parts[2].reshape({n, keys})};
}

at::Tensor with_residual(const at::Tensor& x, const at::Tensor& out, const Norm& norm,
                         const ModelConfig& config) {
  const at::Tensor added = normed(out, norm, config);
  const double scale = config.block.residual_scale;
  return x + (scale == 1 ? added : added * scale);
}

at::Tensor soft_capped(const at::Tensor& x, double cap) {
  if (cap == 0) return x;
  return by_rows(x, x.scalar_type(),
                 [&](const at::Tensor& rows) { return at::tanh(rows / cap) * cap; });
}

at::Tensor as_logits(const at::Tensor& products, const BlockSpec& block) {
  return soft_capped(block.logit_divisor == 1 ? products : products / block.logit_divisor,
                     block.logit_cap);
}

Rotations::Rotations(const Model::Network& network, const at::Tensor& positions)
    : config_(network.config) {
  const double q_scale = 1.0 / std::sqrt(config_.block.query_scalar);
  const at::ScalarType accurate = wide(network.type);
  const auto scaled = [&](const at::Tensor& t) {
    return (t.to(accurate) * q_scale).to(network.type);
  };
  const at::Tensor rows = positions.to(at::kFloat).unsqueeze(1);
  const std::vector<Rope> ropes = config_.ropes();
  for (size_t kind = 0; kind < ropes.size(); ++kind) {
    const at::Tensor angles = rows * network.inverse_frequencies[kind];
    const double turned = ropes[kind].attention_factor;
    const at::Tensor cos = (at::cos(angles) * turned).unsqueeze(1);
    const at::Tensor sin = (at::sin(angles) * turned).unsqueeze(1);
    by_kind_.push_back(
        {scaled(cos), scaled(sin), cos.to(network.type), sin.to(network.type), q_scale});
  }
}

at::Tensor in_turning_order(const at::Tensor& x, const ModelConfig& config) {
  if (!config.block.neighbours_turn) return x;
  const std::int64_t n = x.size(0), heads = x.size(1), dims = config.rope.dims;
  const at::Tensor halves = x.narrow(-1, 0, dims)
                                .reshape({n, heads, dims / 2, 2})
                                .transpose(-1, -2)
                                .reshape({n, heads, dims});
  return at::cat({halves, x.narrow(-1, dims, x.size(-1) - dims)}, -1);
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, double scale) {
  const std::int64_t half = cos.size(-1), rest = x.size(-1) - 2 * half;
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  const at::Tensor turned_a = a * cos - b * sin, turned_b = b * cos + a * sin;
  if (rest == 0) return at::cat({turned_a, turned_b}, -1);
  return at::cat({turned_a, turned_b, x.narrow(-1, 2 * half, rest) * scale}, -1);
}

at::Tensor LowRank::operator()(const at::Tensor& y, const at::Tensor& x) const {
  at::Tensor kept = x;
  if (seed && dropout > 0) {
    at::Generator generator = at::detail::createCPUGenerator(*seed);
    // drawn on the CPU, so that every device leaves out the same
    const at::Tensor mask = at::empty(x.sizes(), x.options().device(at::kCPU));
    kept = x * mask.bernoulli_(1 - dropout, generator).div_(1 - dropout).to(x.device());
  }
  return at::addmm(y, at::linear(kept, a), b.t(), 1, scale);
}

namespace {

/// The MLPs of the rows' most probable experts [n, hidden], each times its probability. Sums are in
/// the order of experts, so that a row does not depend on other rows.
at::Tensor mixed_experts(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                         std::int64_t* read) {
  const at::Tensor logits = products({&layer.router}, x)[0];
  auto [shares, chosen] =
      at::topk(at::softmax(logits, -1, wide(x.scalar_type())), config.experts.used, -1);
  if (config.experts.normalised) shares = shares / shares.sum(-1, /*keepdim=*/true);
  shares = shares.to(x.scalar_type());
  at::Tensor sum = at::zeros_like(x);
  for (size_t i = 0; i < layer.experts.size(); ++i) {
    const at::Tensor places = at::nonzero(chosen == static_cast<std::int64_t>(i));
    // In training each expert is computed, also for no rows, so that each has a gradient.
    if (places.size(0) == 0 && !at::GradMode::is_enabled()) continue;
    const at::Tensor rows = places.select(1, 0);
    if (read) ++*read;
    const Expert& expert = layer.experts[i];
    const at::Tensor inner = gated(expert.gate, expert.up, config.block, x.index_select(0, rows));
    const at::Tensor share = shares.index({rows, places.select(1, 1)}).unsqueeze(1);
    sum = sum.index_add(0, rows, products({&expert.down}, inner)[0] * share);
  }
  if (config.experts.shared_inner == 0) return sum;
  const at::Tensor shared =
      products({&layer.down}, gated(layer.gate, layer.up, config.block, x))[0];
  return sum + at::sigmoid(products({&layer.shared_router}, x)[0]) * shared;
}

}  // namespace

at::Tensor apply_mlp(const Layer& layer, const ModelConfig& config, const at::Tensor& x,
                     const at::Tensor& input, std::int64_t* experts_read) {
  const at::Tensor g = normed(config.block.parallel ? input : x, layer.post_norm, config);
  const auto inner = [&] {
    if (config.block.gated) return gated(layer.gate, layer.up, config.block, g);
    return after_activation(products({&layer.up}, g)[0], config.block.activation);
  };
  const at::Tensor out = layer.experts.empty() ? products({&layer.down}, inner())[0]
                                               : mixed_experts(layer, config, g, experts_read);
  return with_residual(x, summed(out, layer), layer.after_mlp, config);
}

}  // namespace pardec
