#include <cmath>
#include <optional>

#include "src/model/network.hpp"
#include "src/support/text.hpp"
#include "src/training/trainable.hpp"

namespace pardec {

namespace {

class ExtraHeads final : public Trainable {
 public:
  ExtraHeads(const ModelConfig& config, const ExtraHeadShape& shape,
             std::unique_ptr<Trainable> network)
      : Trainable(config), shape_(shape), network_(std::move(network)) {}

  std::vector<Parameter> parameters() const override {
    std::vector<Parameter> all;
    if (network_) all = network_->parameters();
    for (Parameter& parameter : extra_head_parameters(config(), shape_))
      all.push_back(std::move(parameter));
    return all;
  }
  at::Tensor begin(const Parameter& parameter,
                   const std::map<std::string, at::Tensor>& weights) const override {
    const bool out = parameter.role == Role::extra_out;
    if (!out && parameter.role != Role::extra_block) return network_->begin(parameter, weights);
    const at::Tensor& head = weights.at(
        parameter_name(*config().family, config().tied_head ? Role::embedding : Role::head));
    return out ? head.clone() : at::zeros(parameter.shape, head.options());
  }
  std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const override {
    auto network = network_ ? network_->network(weights) : Model::Network::over(config(), weights);
    network->extra_heads = extra_heads_over(weights, shape_);
    return network;
  }

  std::vector<Loss> losses() const override {
    std::vector<Loss> all;
    if (network_) all.push_back({"network", 1});
    for (int head = 1; head <= shape_.heads; ++head)
      all.push_back({str("head ", head), (network_ ? 0.2 : 1) * std::pow(0.8, head)});
    return all;
  }

  /// The targets of heads 1, 2, ... at a row are the tokens after the row's own target in the text.
  /// A row continues in the next row if that row contains its target as a token, one position later
  /// in the same segment. The text ends at a row without a target, so that only answers count.
  std::vector<RowTargets> targets(const TrainingSample& sample) const override {
    std::vector<std::optional<Token>> target(sample.tokens.size());  // by row
    for (const auto& [row, token] : sample.targets) target[static_cast<size_t>(row)] = token;
    const auto goes_on = [&](size_t row) {
      if (row + 1 == target.size() || !target[row] || !target[row + 1]) return false;
      const RowLabel &here = sample.labels[row], &next = sample.labels[row + 1];
      return sample.tokens[row + 1] == *target[row] && next.position == here.position + 1 &&
             next.segment == here.segment;
    };
    const size_t most = own_losses() + static_cast<size_t>(shape_.heads);
    std::vector<RowTargets> all;
    for (size_t row = 0; row < target.size(); ++row) {
      RowTargets here{static_cast<int>(row), {}};
      if (network_ && target[row]) here.tokens.push_back(*target[row]);
      for (size_t at = row; here.tokens.size() < most && goes_on(at); ++at)
        here.tokens.push_back(*target[at + 1]);
      if (!here.tokens.empty()) all.push_back(std::move(here));
    }
    return all;
  }

  at::Tensor logits(const Model::Network& network, size_t loss,
                    const at::Tensor& head_inputs) const override {
    if (loss < own_losses()) return network_->logits(network, loss, head_inputs);
    const ExtraHead& head = network.extra_heads[loss - own_losses()];
    const at::Tensor z = head.residual(head_inputs);
    return head.shares_head ? training_logits(network, z)
                            : as_logits(head.out(z), network.config.block);
  }

  std::string file(const std::string& name) const override {
    const bool of_head = name.front() >= '0' && name.front() <= '9';  // "0.0.linear.bias"
    return of_head ? kExtraHeadsFile : network_->file(name);
  }
  bool beside_network() const override { return true; }
  OrderedJson settings() const override {
    OrderedJson all = {{"medusa", {{"heads", shape_.heads}, {"blocks", shape_.blocks}}}};
    if (shape_.shares_head) all["medusa"]["shares_head"] = true;
    if (network_) all.update(network_->settings());
    return all;
  }

 private:
  /// Number of the network's own losses, which come first.
  size_t own_losses() const { return network_ ? 1 : 0; }

  ExtraHeadShape shape_;
  std::unique_ptr<Trainable> network_;  // null: the network is frozen
};

}  // namespace

std::unique_ptr<Trainable> extra_heads(const ModelConfig& config, const ExtraHeadShape& shape,
                                       std::unique_ptr<Trainable> network) {
  return std::make_unique<ExtraHeads>(config, shape, std::move(network));
}

}  // namespace pardec
