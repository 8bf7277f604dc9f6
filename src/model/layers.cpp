#include "src/model/layers.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace pardec {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  if (!weight.defined()) return x;
  const at::Tensor w = x.to(wide(x.scalar_type()));
  return weight * (w * at::rsqrt(w.square().mean(-1, /*keepdim=*/true) + eps)).to(x.scalar_type());
}

Rotation::Rotation(const Model::Network& network, const at::Tensor& positions)
    : q_scale(1.0 / std::sqrt(static_cast<double>(network.config.head_dim))) {
  const at::Tensor angles = positions.to(at::kFloat).unsqueeze(1) * network.inverse_frequencies;
  const double turned = network.config.rope.attention_factor;
  const at::Tensor cos = (at::cos(angles) * turned).unsqueeze(1);
  const at::Tensor sin = (at::sin(angles) * turned).unsqueeze(1);
  const at::ScalarType accurate = wide(network.type);
  const auto scaled = [&](const at::Tensor& t) {
    return (t.to(accurate) * q_scale).to(network.type);
  };
  q_cos = scaled(cos), q_sin = scaled(sin);
  k_cos = cos.to(network.type), k_sin = sin.to(network.type);
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
    kept = x * at::empty_like(x).bernoulli_(1 - dropout, generator).div_(1 - dropout);
  }
  return at::addmm(y, at::linear(kept, a), b.t(), 1, scale);
}

at::Tensor apply_mlp(const Layer& layer, const ModelConfig& config, const at::Tensor& x) {
  const at::Tensor g = rms_norm(x, layer.post_norm, config.rms_norm_eps);
  const at::Tensor out = layer.down(at::silu(layer.gate(g)) * layer.up(g));
  return x + rms_norm(out, layer.after_mlp, config.rms_norm_eps);
}

}  // namespace pardec
