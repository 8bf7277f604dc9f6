// The forward pass of training: whole sequences, with gradients.
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "src/model/plain/attention.hpp"
#include "src/model/plain/layers.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// x [n, hidden] -> [n, hidden]
using LayerFunction = std::function<at::Tensor(const at::Tensor&)>;

/// The trained tensors of a layer, each once.
std::vector<at::Tensor> learning(const Layer& layer) {
  std::vector<at::Tensor> all;
  const auto add = [&](const at::Tensor& tensor) {
    const bool there = std::any_of(all.begin(), all.end(),
                                   [&](const at::Tensor& other) { return other.is_same(tensor); });
    if (tensor.defined() && tensor.requires_grad() && !there) all.push_back(tensor);
  };
  for (const Norm* norm : {&layer.input_norm, &layer.q_norm, &layer.k_norm, &layer.post_norm,
                           &layer.after_attention, &layer.after_mlp}) {
    add(norm->weight);
    add(norm->bias);
  }
  std::vector<const Linear*> linears{
      &layer.q,    &layer.k,  &layer.v,    &layer.qkv,    &layer.o,
      &layer.gate, &layer.up, &layer.down, &layer.router, &layer.shared_router};
  add(layer.sinks);
  for (const Expert& expert : layer.experts)
    linears.insert(linears.end(), {&expert.gate, &expert.up, &expert.down});
  for (const Linear* linear : linears)
    for (const at::Tensor& tensor :
         {linear->weight, linear->bias, linear->low_rank.a, linear->low_rank.b})
      add(tensor);
  return all;
}

/// A layer that keeps only its input, and is computed again for the gradients (Chen et al. 2016,
/// arXiv:1604.06174).
class Recomputed : public torch::autograd::Function<Recomputed> {
 public:
  struct Call final : torch::CustomClassHolder {
    explicit Call(LayerFunction f) : layer(std::move(f)) {}
    LayerFunction layer;
  };

  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            at::TensorList weights, const c10::intrusive_ptr<Call>& call) {
    std::vector<at::Tensor> kept{x};
    kept.insert(kept.end(), weights.begin(), weights.end());
    context->save_for_backward(std::move(kept));
    context->saved_data["call"] = at::IValue::make_capsule(call);
    return call->layer(x);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    torch::autograd::variable_list kept = context->get_saved_variables();
    const auto call =
        c10::static_intrusive_pointer_cast<Call>(context->saved_data["call"].toCapsule());
    const bool through = context->needs_input_grad(0);
    const at::AutoGradMode with_gradients(true);
    const at::Tensor x = kept.front().detach().requires_grad_(through);
    torch::autograd::variable_list inputs(kept.begin() + (through ? 0 : 1), kept.end());
    if (through) inputs.front() = x;
    torch::autograd::variable_list found =
        torch::autograd::grad({call->layer(x)}, inputs, gradients);
    if (!through) found.insert(found.begin(), at::Tensor());
    found.emplace_back();  // for `call`
    return found;
  }
};

/// The layer with its own dropout seeds.
Layer seeded(Layer layer, std::uint64_t seed, size_t index) {
  const std::pair<Linear*, const char*> linears[] = {
      {&layer.q, "q"},
      {&layer.k, "k"},
      {&layer.v, "v"},
      {&layer.qkv, "q"},
      {&layer.o, "o"},
      {&layer.gate, "gate"},
      // Matrices that are fused in the file (Phi-3) share a seed, because they have one input.
      {&layer.up, layer.gate_up.defined() ? "gate" : "up"},
      {&layer.down, "down"}};
  for (const auto& [linear, name] : linears)
    linear->low_rank.seed = derive_seed(seed, str(index, " ", name));
  return layer;
}

/// The first layer's input, with trained rows of the embedding.
at::Tensor embed(const Model::Network& network, const at::Tensor& ids,
                 const at::Tensor& positions) {
  const at::Tensor x = at::embedding(network.embedding, ids);
  const TokenRows& rows = network.token_rows;
  if (!rows.ids.defined()) return first_input(x, positions, network);
  const at::Tensor places = rows.places.index_select(0, ids);
  const at::Tensor found = at::nonzero(places >= 0).view({-1});
  return first_input(
      x.index_copy(0, found, rows.embedding.index_select(0, places.index_select(0, found))),
      positions, network);
}

}  // namespace

at::Tensor head_inputs(const Model::Network& network, std::span<const PackedSequence> sequences,
                       const std::vector<std::int64_t>& wanted, const TrainingPass& pass) {
  if (!network.head.weight.defined())
    throw std::logic_error("a network whose backend took its weights cannot be trained");
  RowInputs rows;
  for (const PackedSequence& sequence : sequences) {
    check_rows(network, sequence.tokens, sequence.labels, *sequence.segments);
    rows.add(sequence.tokens, sequence.labels);
  }
  // Shared, because layers are computed again after this function has returned.
  const auto attention = std::make_shared<TrainingAttention>(
      network, sequences, pass.joined.value_or(!network.device.is_cpu()));
  const at::Tensor positions = on_device(network, rows.positions);
  const auto turns = std::make_shared<Rotations>(network, positions);
  at::Tensor x = embed(network, on_device(network, rows.ids), positions);
  for (size_t i = 0; i < network.layers.size(); ++i) {
    const LayerFunction layer = [&network, &config = network.config, attention, turns, i,
                                 seed = pass.dropout_seed](const at::Tensor& input) {
      const Layer own = seed ? seeded(network.layers[i], *seed, i) : network.layers[i];
      const auto attend = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        return attention->attend(i, q, k, v);
      };
      const at::Tensor attended = apply_attention(own, config, input, turns->of(i), attend);
      return apply_mlp(own, config, attended, input);
    };
    const std::vector<at::Tensor> weights = learning(network.layers[i]);
    const bool kept = !pass.checkpoint_activations || !at::GradMode::is_enabled() ||
                      (weights.empty() && !x.requires_grad());
    x = kept ? layer(x)
             : Recomputed::apply(x, at::TensorList(weights),
                                 c10::make_intrusive<Recomputed::Call>(layer));
  }
  return normed(x.index_select(0, on_device(network, wanted)), network.final_norm, network.config);
}

at::Tensor training_logits(const Model::Network& network, const at::Tensor& head_inputs) {
  at::Tensor logits = network.head(head_inputs);
  const TokenRows& rows = network.token_rows;
  at::Tensor bias = network.head.bias;
  if (rows.ids.defined() && bias.defined()) bias = bias.index_select(0, rows.ids);
  if (rows.ids.defined()) logits.index_copy_(1, rows.ids, at::linear(head_inputs, rows.head, bias));
  return as_logits(logits, network.config.block);
}

}  // namespace pardec
