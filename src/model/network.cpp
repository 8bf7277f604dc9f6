// Access to weights by their roles and by their names.
#include <c10/core/GradMode.h>

#include <stdexcept>

#include "src/model/files/parameters.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/plain_backend.hpp"
#include "src/model/plain/rope_frequencies.hpp"

namespace pardec {

namespace {

/// The member of a (const or mutable) network for a weight of `parameters(config)`.
template <typename Network>
auto& place(Network& network, const Parameter& parameter) {
  if (parameter.role == Role::embedding) return network.embedding;
  if (parameter.role == Role::positions) return network.position_rows;
  const auto of = [&](auto& map) -> auto& { return parameter.bias ? map.bias : map.weight; };
  if (parameter.role == Role::final_norm) return of(network.final_norm);
  if (parameter.role == Role::head) return of(network.head);
  auto& layer = network.layers.at(static_cast<size_t>(parameter.layer));
  switch (parameter.role) {
    case Role::input_norm:
      return of(layer.input_norm);
    case Role::qkv:
      return of(layer.qkv);
    case Role::q:
      return of(layer.q);
    case Role::k:
      return of(layer.k);
    case Role::v:
      return of(layer.v);
    case Role::o:
      return of(layer.o);
    case Role::sinks:
      return layer.sinks;
    case Role::q_norm:
      return of(layer.q_norm);
    case Role::k_norm:
      return of(layer.k_norm);
    case Role::after_attention_norm:
      return of(layer.after_attention);
    case Role::mlp_norm:
      return of(layer.post_norm);
    case Role::gate_up:
      return layer.gate_up;
    case Role::gate:
    case Role::shared_gate:
      return of(layer.gate);
    case Role::up:
    case Role::shared_up:
      return of(layer.up);
    case Role::down:
    case Role::shared_down:
      return of(layer.down);
    case Role::shared_router:
      return layer.shared_router.weight;
    case Role::router:
      return of(layer.router);
    case Role::expert_gate:
      return of(layer.experts.at(static_cast<size_t>(parameter.expert)).gate);
    case Role::expert_up:
      return of(layer.experts.at(static_cast<size_t>(parameter.expert)).up);
    case Role::expert_down:
      return of(layer.experts.at(static_cast<size_t>(parameter.expert)).down);
    case Role::after_mlp_norm:
      return of(layer.after_mlp);
    default:
      throw std::logic_error("a network has no place for '" + parameter.name + "'");
  }
}

/// Makes gate and up views of the stacked matrix; nothing is copied.
void split_fused(const ModelConfig& config, Layer& layer) {
  layer.gate.weight = layer.gate_up.narrow(0, 0, config.intermediate_size);
  layer.up.weight = layer.gate_up.narrow(0, config.intermediate_size, config.intermediate_size);
}

}  // namespace

void Model::Network::assign(const std::map<std::string, at::Tensor>& weights) {
  layers.resize(static_cast<size_t>(config.layers));
  for (size_t i = 0; i < layers.size(); ++i)
    if (config.experts.in(i)) layers[i].experts.resize(static_cast<size_t>(config.experts.count));
  for (const Parameter& parameter : parameters(config))
    place(*this, parameter) = weights.at(parameter.name);
  for (Layer& layer : layers) {
    if (config.block.fused_gate_up) split_fused(config, layer);
    if (config.block.parallel && !config.block.two_norms) layer.post_norm = layer.input_norm;
  }
  if (config.tied_head) head.weight = embedding;
}

std::unique_ptr<Model::Network> Model::Network::over(
    const ModelConfig& config, const std::map<std::string, at::Tensor>& weights) {
  auto network = std::make_unique<Network>();
  network->path = "network";
  network->config = config;
  network->assign(weights);
  network->type = network->embedding.scalar_type();
  network->device = network->embedding.device();
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp64})
    if (scalar_type(dtype) == network->type) network->options.dtype = dtype;
  network->backend = std::make_shared<PlainBackend>();
  const c10::NoGradGuard no_grad;
  network->inverse_frequencies = pardec::inverse_frequencies(config, network->device);
  return network;
}

std::vector<std::pair<std::string, at::Tensor>> Model::Network::named_parameters() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  for (const Parameter& parameter : parameters(config))
    if (const at::Tensor& weight = place(*this, parameter); weight.defined())
      all.emplace_back(parameter.name, weight);
  return all;
}

std::vector<ExtraHead> extra_heads_over(const std::map<std::string, at::Tensor>& weights,
                                        const ExtraHeadShape& shape) {
  std::vector<ExtraHead> all;
  for (int head = 0; head < shape.heads; ++head) {
    ExtraHead& extra = all.emplace_back();
    extra.shares_head = shape.shares_head;
    for (int block = 0; block < shape.blocks; ++block)
      extra.blocks.push_back({weights.at(extra_block_name(head, block)),
                              weights.at(extra_block_name(head, block, /*bias=*/true))});
    if (!shape.shares_head) extra.out.weight = weights.at(extra_out_name(head, shape.blocks));
  }
  return all;
}

}  // namespace pardec
