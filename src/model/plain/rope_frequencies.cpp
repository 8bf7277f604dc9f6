#include "src/model/plain/rope_frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace pardec {

namespace {

/// The exponents of the base: 0, 2, ..., dim - 2, divided by dim.
at::Tensor exponents(int dim) {
  return at::arange(0, dim, 2, at::TensorOptions().dtype(at::kFloat)) / static_cast<double>(dim);
}

at::Tensor standard(double theta, int dim) { return at::pow(theta, exponents(dim)).reciprocal(); }

/// The base grows with the length; up to the original length it is unchanged.
at::Tensor dynamic(const Rope& rope, int dim, int length) {
  const double growth = rope.factor * length / length - (rope.factor - 1);
  return standard(rope.theta * std::pow(growth, double(dim) / (dim - 2)), dim);
}

/// High frequencies are unchanged, low ones are divided by the factor, and between them is a ramp.
/// High and low are counted in turns over the original length.
at::Tensor yarn(const Rope& rope, int dim) {
  const double original = rope.original_max_position;
  const auto dimension_of = [&](double turns) {
    return dim * std::log(original / (turns * 2 * std::numbers::pi)) / (2 * std::log(rope.theta));
  };
  double low = dimension_of(rope.beta_fast), high = dimension_of(rope.beta_slow);
  if (rope.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1.0);
  if (low == high) high += 0.001;
  const at::Tensor powers = at::pow(rope.theta, exponents(dim));
  const at::Tensor indices = at::arange(dim / 2, at::TensorOptions().dtype(at::kFloat));
  const at::Tensor kept = at::rsub(at::clamp((indices - low) / (high - low), 0, 1), 1);
  return (powers * rope.factor).reciprocal() * at::rsub(kept, 1) + powers.reciprocal() * kept;
}

at::Tensor longrope(const Rope& rope, int dim) {
  const std::vector<float> divisors(rope.short_factor.begin(), rope.short_factor.end());
  return (at::tensor(divisors) * at::pow(rope.theta, exponents(dim))).reciprocal();
}

/// Short wavelengths are unchanged, long ones are divided by the factor, and those between are
/// interpolated.
at::Tensor llama3(const Rope& rope, int dim) {
  const double original = rope.original_max_position;
  const double low = rope.low_freq_factor, high = rope.high_freq_factor;
  const at::Tensor frequencies = standard(rope.theta, dim);
  const at::Tensor lengths = frequencies.reciprocal() * (2 * std::numbers::pi);
  const at::Tensor is_long = lengths > original / low, is_short = lengths < original / high;
  const at::Tensor scaled = at::where(is_long, frequencies / rope.factor, frequencies);
  const at::Tensor smooth = (lengths.reciprocal() * original - low) / (high - low);
  const at::Tensor blended = at::rsub(smooth, 1) * scaled / rope.factor + smooth * scaled;
  return at::where(at::logical_or(is_long, is_short), scaled, blended);
}

at::Tensor frequencies_of(const Rope& rope, int max_position) {
  const int dim = rope.dims;
  switch (rope.type) {
    case RopeType::standard:
      return standard(rope.theta, dim);
    case RopeType::linear:
      return standard(rope.theta, dim) / rope.factor;
    case RopeType::dynamic:
      return dynamic(rope, dim, max_position);
    case RopeType::yarn:
      return yarn(rope, dim);
    case RopeType::longrope:
      return longrope(rope, dim);
    case RopeType::llama3:
      return llama3(rope, dim);
    case RopeType::still:
      return at::zeros({dim / 2}, at::kFloat);
  }
  throw std::logic_error("unknown RopeType");
}

}  // namespace

std::vector<at::Tensor> inverse_frequencies(const ModelConfig& config, at::Device device) {
  std::vector<at::Tensor> all;
  for (const Rope& rope : config.ropes())
    all.push_back(frequencies_of(rope, config.max_position).to(device));
  return all;
}

}  // namespace pardec
