#include <cmath>

#include "src/model/network.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/training/trainable.hpp"

namespace pardec {

namespace {

class WholeNetwork final : public Trainable {
 public:
  using Trainable::Trainable;

  std::vector<Parameter> parameters() const override { return pardec::parameters(config()); }
  at::Tensor begin(const Parameter& parameter,
                   const std::map<std::string, at::Tensor>& weights) const override {
    return weights.at(parameter.name);
  }
  std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const override {
    return Model::Network::over(config(), weights);
  }

  std::string file(const std::string&) const override { return "model.safetensors"; }
  bool beside_network() const override { return false; }
  OrderedJson settings() const override { return OrderedJson::object(); }
};

}  // namespace

std::unique_ptr<Trainable> whole_network(const ModelConfig& config) {
  return std::make_unique<WholeNetwork>(config);
}

std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed) {
  if (!(config.initializer_range > 0) || !std::isfinite(config.initializer_range))
    throw ConfigError(str("'initializer_range' of the config is ", config.initializer_range,
                          ", expected more than 0"));
  std::map<std::string, at::Tensor> weights;
  for (const Parameter& parameter : parameters(config)) {
    if (!parameter.matrix()) {
      const double constant = parameter.bias || config.block.norm_adds_one ? 0.0 : 1.0;
      weights.emplace(parameter.name, at::full(parameter.shape, constant, at::kFloat));
      continue;
    }
    const bool residual = parameter.role == Role::o || parameter.role == Role::down ||
                          parameter.role == Role::expert_down ||
                          parameter.role == Role::shared_down;
    const double deviation =
        config.initializer_range / (residual ? std::sqrt(2.0 * config.layers) : 1.0);
    at::Tensor weight = at::empty(parameter.shape, at::kFloat);
    Rng rng(derive_seed(seed, parameter.name));
    for (float& value : std::span(weight.data_ptr<float>(), static_cast<size_t>(weight.numel())))
      value = static_cast<float>(rng.normal() * deviation);
    weights.emplace(parameter.name, std::move(weight));
  }
  return weights;
}

}  // namespace pardec
