#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "src/model/network.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/training/trainable.hpp"

namespace pardec {

namespace {

/// The parts of a stored matrix that a layer computes with, stacked in this order.
std::vector<Linear*> linears(Layer& layer, Role role) {
  switch (role) {
    case Role::qkv:
      return {&layer.qkv};
    case Role::q:
      return {&layer.q};
    case Role::k:
      return {&layer.k};
    case Role::v:
      return {&layer.v};
    case Role::o:
      return {&layer.o};
    case Role::gate_up:
      return {&layer.gate, &layer.up};
    case Role::gate:
    case Role::shared_gate:
      return {&layer.gate};
    case Role::up:
    case Role::shared_up:
      return {&layer.up};
    case Role::down:
    case Role::shared_down:
      return {&layer.down};
    default:
      throw std::logic_error("no matrix of a layer has this role");
  }
}

/// Rows whose distance is below this share of their length count as equal.
constexpr double kAlike = 0.01;

class LowRankAdapter final : public Trainable {
 public:
  LowRankAdapter(const ModelConfig& config, AdapterShape shape, std::uint64_t seed,
                 std::map<std::string, at::Tensor> start)
      : Trainable(config), shape_(std::move(shape)), seed_(seed), start_(std::move(start)) {}

  std::vector<Parameter> parameters() const override {
    return adapter_parameters(config(), shape_);
  }
  at::Tensor begin(const Parameter& parameter,
                   const std::map<std::string, at::Tensor>& weights) const override {
    if (const auto found = start_.find(parameter.name); found != start_.end())
      return found->second.clone();
    for (const Role role : {Role::embedding, Role::head})
      if (parameter.role == role)
        return told_apart(weights.at(parameter_name(*config().family, role)),
                          derive_seed(seed_, parameter.name));
    at::Tensor weight = at::zeros(parameter.shape, at::kFloat);
    if (!parameter.name.ends_with(".lora_A.weight")) return weight;
    const double bound = 1 / std::sqrt(static_cast<double>(parameter.shape[1]));
    Rng rng(derive_seed(seed_, parameter.name));
    for (float& value : std::span(weight.data_ptr<float>(), static_cast<size_t>(weight.numel())))
      value = static_cast<float>((2 * rng.uniform() - 1) * bound);
    return weight;
  }
  std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const override {
    auto network = Model::Network::over(config(), weights);
    for (const Parameter& matrix : adapted_matrices(config(), shape_)) {
      const at::Tensor& a = weights.at(low_rank_name(matrix, 'A'));
      const at::Tensor& b = weights.at(low_rank_name(matrix, 'B'));
      std::int64_t begin = 0;
      for (Linear* linear :
           linears(network->layers[static_cast<size_t>(matrix.layer)], matrix.role)) {
        const std::int64_t rows = linear->weight.size(0);
        linear->low_rank = {.a = a,
                            .b = b.size(0) == rows ? b : b.narrow(0, begin, rows),
                            .scale = shape_.alpha / shape_.rank,
                            .dropout = shape_.dropout};
        begin += rows;
      }
    }
    if (shape_.tokens.empty()) return network;
    const at::Tensor& embedding = weights.at(token_rows_name(*config().family, Role::embedding));
    const std::int64_t count = std::ssize(shape_.tokens);
    network->token_rows = {.ids = ids().to(network->device),
                           .places = at::full({config().vocab_size}, -1, at::kLong)
                                         .index_copy_(0, ids(), at::arange(count, at::kLong))
                                         .to(network->device),
                           .embedding = embedding,
                           .head = config().tied_head
                                       ? embedding
                                       : weights.at(token_rows_name(*config().family, Role::head))};
    return network;
  }

  std::string file(const std::string&) const override { return kAdapterFile; }
  bool beside_network() const override { return true; }
  OrderedJson settings() const override {
    return {{"lora",
             {{"rank", shape_.rank},
              {"alpha", shape_.alpha},
              {"dropout", shape_.dropout},
              {"targets", shape_.targets},
              {"tokens", shape_.tokens}}}};
  }

 private:
  /// The tokens' rows of `matrix`. A checkpoint that never used some tokens has identical rows for
  /// them. These would receive equal gradients and stay identical, so they are drawn at random,
  /// with the matrix's deviation.
  at::Tensor told_apart(const at::Tensor& matrix, std::uint64_t seed) const {
    const at::Tensor all = matrix.to(at::kDouble), before = all.index_select(0, ids());
    at::Tensor rows = before.clone();
    const double deviation = all.std().item<double>();
    Rng rng(seed);
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
      const at::Tensor distance = at::linalg_vector_norm(before - before[i], 2, {1});
      const at::Tensor alike = distance <= kAlike * at::linalg_vector_norm(before[i]);
      if (alike.sum().item<std::int64_t>() < 2) continue;
      at::Tensor row = rows[i];
      for (double& value : std::span(row.data_ptr<double>(), static_cast<size_t>(row.numel())))
        value = rng.normal() * deviation;
    }
    return rows;
  }
  at::Tensor ids() const {
    return at::tensor(std::vector<std::int64_t>(shape_.tokens.begin(), shape_.tokens.end()),
                      at::kLong);
  }

  AdapterShape shape_;
  std::uint64_t seed_;
  std::map<std::string, at::Tensor> start_;
};

}  // namespace

std::unique_ptr<Trainable> low_rank_adapter(const ModelConfig& config, const AdapterShape& shape,
                                            std::uint64_t seed,
                                            const std::optional<Adapter>& start) {
  const std::vector<std::string> known = adapter_targets(config);
  for (const std::string& target : shape.targets)
    if (std::find(known.begin(), known.end(), target) == known.end())
      throw ConfigError(str("`lora_targets` names '", target, "', which the network does not have",
                            known_names(target, known)));
  return std::make_unique<LowRankAdapter>(
      config, shape, seed, start ? start->tensors() : std::map<std::string, at::Tensor>());
}

}  // namespace pardec
