#include "src/training/trainer.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "src/model/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::vector<std::pair<std::string, at::Tensor>> in_order(
    const ModelConfig& config, const std::map<std::string, at::Tensor>& weights) {
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const Parameter& parameter : parameters(config))
    ordered.emplace_back(parameter.name, weights.at(parameter.name));
  return ordered;
}

at::ScalarType compute_type(Dtype dtype) {
  return dtype == Dtype::bf16 ? at::kBFloat16 : dtype == Dtype::fp64 ? at::kDouble : at::kFloat;
}

}  // namespace

std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed) {
  std::map<std::string, at::Tensor> weights;
  for (const Parameter& parameter : parameters(config)) {
    const std::string& name = parameter.name;
    if (parameter.shape.size() == 1) {
      const double constant = name.ends_with(".bias") ? 0.0 : 1.0;
      weights.emplace(name, at::full(parameter.shape, constant, at::kFloat));
      continue;
    }
    const bool residual =
        name.find("o_proj") != std::string::npos || name.find("down_proj") != std::string::npos;
    const double deviation = residual ? 0.02 / std::sqrt(2.0 * config.layers) : 0.02;
    at::Tensor weight = at::empty(parameter.shape, at::kFloat);
    Rng rng(derive_seed(seed, name));
    for (float& value : std::span(weight.data_ptr<float>(), static_cast<size_t>(weight.numel())))
      value = static_cast<float>(rng.normal() * deviation);
    weights.emplace(name, std::move(weight));
  }
  return weights;
}

Trainer::Trainer(const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
                 const TrainerOptions& options)
    : options_(options), optimiser_(in_order(config, weights), options.adamw) {
  const at::ScalarType type = compute_type(options.dtype);
  std::map<std::string, at::Tensor> computing;
  for (const AdamW::Slot& slot : optimiser_.slots())
    leaves_.push_back(computing
                          .emplace(slot.name, slot.weight.detach()
                                                  .to(type, /*non_blocking=*/false, /*copy=*/true)
                                                  .requires_grad_(true))
                          .first->second);
  network_ = Model::Network::over(config, computing);
}

void Trainer::refresh() {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < leaves_.size(); ++i) leaves_[i].copy_(optimiser_.slots()[i].weight);
}

std::vector<std::span<const TrainingSample* const>> Trainer::cut(
    std::span<const TrainingSample* const> samples) const {
  std::vector<std::span<const TrainingSample* const>> pieces;
  size_t begin = 0;
  std::int64_t tokens = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t more = std::ssize(samples[i]->tokens);
    if (i > begin && tokens + more > options_.micro_tokens) {
      pieces.push_back(samples.subspan(begin, i - begin));
      begin = i;
      tokens = 0;
    }
    tokens += more;
  }
  if (begin < samples.size()) pieces.push_back(samples.subspan(begin));
  return pieces;
}

at::Tensor Trainer::summed_loss(std::span<const TrainingSample* const> samples) const {
  std::vector<PackedSequence> packed;
  std::vector<std::int64_t> rows, targets;
  std::int64_t begin = 0;
  for (const TrainingSample* sample : samples) {
    packed.push_back({sample->tokens, sample->labels, &sample->segments});
    for (const auto& [row, target] : sample->targets) {
      rows.push_back(begin + row);
      targets.push_back(target);
    }
    begin += std::ssize(sample->tokens);
  }
  const at::Tensor scores = logits(*network_, packed, rows);
  const at::ScalarType wide = scores.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::cross_entropy_loss(scores.to(wide), at::tensor(targets, at::kLong), {},
                                at::Reduction::Sum);
}

std::vector<at::Tensor> Trainer::gradients(std::span<const TrainingSample* const> batch,
                                           Report& report) {
  for (const TrainingSample* sample : batch) {
    report.tokens += std::ssize(sample->tokens);
    report.targets += std::ssize(sample->targets);
  }
  if (report.targets == 0) throw ConfigError("a batch has no target, expected at least one");
  std::vector<at::Tensor> sum;
  for (const auto& piece : cut(batch)) {
    const at::Tensor loss = summed_loss(piece) / static_cast<double>(report.targets);
    report.loss += loss.item<double>();
    std::vector<at::Tensor> some = torch::autograd::grad({loss}, leaves_);
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < some.size(); ++i) {
      const at::ScalarType type = optimiser_.slots()[i].weight.scalar_type();
      if (sum.size() < some.size())
        sum.push_back(some[i].to(type).contiguous());
      else
        sum[i].add_(some[i].to(type));
    }
  }
  if (!std::isfinite(report.loss))
    throw RunError(str("the loss is ", report.loss,
                       "; use a lower --lr, a longer --warmup or a smaller --clip"));
  return sum;
}

Trainer::Report Trainer::step(std::span<const TrainingSample* const> batch, double learning_rate) {
  Report report;
  std::vector<at::Tensor> all = gradients(batch, report);
  report.gradient_norm = clip_by_global_norm(all, options_.clip);
  optimiser_.step(all, learning_rate);
  refresh();
  return report;
}

double Trainer::loss(std::span<const TrainingSample* const> samples) {
  const c10::NoGradGuard no_grad;
  double sum = 0;
  std::int64_t targets = 0;
  for (const auto& piece : cut(samples)) {
    for (const TrainingSample* sample : piece) targets += std::ssize(sample->targets);
    sum += summed_loss(piece).item<double>();
  }
  return targets ? sum / static_cast<double>(targets) : 0.0;
}

}  // namespace pardec
