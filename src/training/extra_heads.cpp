#include <cmath>
#include <optional>

#include "src/model/transformer.hpp"
#include "src/support/text.hpp"
#include "src/training/trainable.hpp"

namespace pardec {

namespace {

class ExtraHeads final : public Trainable {
 public:
  ExtraHeads(const ModelConfig& config, const ExtraHeadShape& shape)
      : Trainable(config), shape_(shape) {}

  std::vector<Parameter> parameters() const override {
    return extra_head_parameters(config(), shape_.heads, shape_.blocks);
  }
  at::Tensor begin(const Parameter& parameter,
                   const std::map<std::string, at::Tensor>& weights) const override {
    const at::Tensor& head =
        weights.at(parameter_name(config().tied_head ? Role::embedding : Role::head));
    return parameter.role == Role::extra_block ? at::zeros(parameter.shape, head.options())
                                               : head.clone();
  }
  std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const override {
    auto network = Model::Network::over(config(), weights);
    network->extra_heads = extra_heads_over(weights, shape_.heads, shape_.blocks);
    return network;
  }

  std::vector<Loss> losses() const override {
    std::vector<Loss> all;
    for (int head = 1; head <= shape_.heads; ++head)
      all.push_back({str("head ", head), std::pow(0.8, head)});
    return all;
  }

  /// What comes behind a row's own target in the text is what heads 1, 2, ... should choose there.
  /// A row goes on in the next one where that feeds what it should choose, one position on in the
  /// same segment; the text ends where a row has no target, so that nothing but answers counts.
  std::vector<RowTargets> targets(const TrainingSample& sample) const override {
    std::vector<std::optional<Token>> target(sample.tokens.size());  // by row
    for (const auto& [row, token] : sample.targets) target[static_cast<size_t>(row)] = token;
    const auto goes_on = [&](size_t row) {
      if (row + 1 == target.size() || !target[row] || !target[row + 1]) return false;
      const RowLabel &here = sample.labels[row], &next = sample.labels[row + 1];
      return sample.tokens[row + 1] == *target[row] && next.position == here.position + 1 &&
             next.segment == here.segment;
    };
    std::vector<RowTargets> all;
    for (size_t row = 0; row < target.size(); ++row) {
      RowTargets behind{static_cast<int>(row), {}};
      for (size_t at = row; std::ssize(behind.tokens) < shape_.heads && goes_on(at); ++at)
        behind.tokens.push_back(*target[at + 1]);
      if (!behind.tokens.empty()) all.push_back(std::move(behind));
    }
    return all;
  }

  at::Tensor logits(const Model::Network& network, size_t loss,
                    const at::Tensor& head_inputs) const override {
    return network.extra_heads[loss](head_inputs);
  }

  std::string file() const override { return kExtraHeadsFile; }
  bool beside_network() const override { return true; }
  OrderedJson settings() const override {
    return {{"medusa", {{"heads", shape_.heads}, {"blocks", shape_.blocks}}}};
  }

 private:
  ExtraHeadShape shape_;
};

}  // namespace

std::unique_ptr<Trainable> extra_heads(const ModelConfig& config, const ExtraHeadShape& shape) {
  return std::make_unique<ExtraHeads>(config, shape);
}

}  // namespace pardec
