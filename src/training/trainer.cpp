#include "src/training/trainer.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>

#include "src/model/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "src/training/continuation.hpp"

namespace pardec {

namespace {

/// The weights that learn, in order.
std::vector<std::pair<std::string, at::Tensor>> masters(
    const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
    const ExtraHeadShape& extra) {
  const bool heads = extra.heads > 0;
  const auto begun = heads ? initial_extra_heads(config, weights, extra) : weights;
  std::vector<std::pair<std::string, at::Tensor>> ordered;
  for (const Parameter& parameter :
       heads ? extra_head_parameters(config, extra.heads, extra.blocks) : parameters(config))
    ordered.emplace_back(parameter.name, begun.at(parameter.name));
  return ordered;
}

at::ScalarType compute_type(Dtype dtype) {
  return dtype == Dtype::bf16 ? at::kBFloat16 : dtype == Dtype::fp64 ? at::kDouble : at::kFloat;
}

/// sum += gradients, in float32 at least; an empty sum is 0.
void add_to(std::vector<at::Tensor>& sum, const std::vector<at::Tensor>& gradients) {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor wide =
        gradients[i].scalar_type() == at::kDouble ? gradients[i] : gradients[i].to(at::kFloat);
    if (i == sum.size())
      sum.push_back(wide.contiguous());
    else
      sum[i].add_(wide);
  }
}

}  // namespace

std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed) {
  if (!(config.initializer_range > 0) || !std::isfinite(config.initializer_range))
    throw ConfigError(str("'initializer_range' of the config is ", config.initializer_range,
                          ", expected more than 0"));
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
    const double deviation =
        config.initializer_range / (residual ? std::sqrt(2.0 * config.layers) : 1.0);
    at::Tensor weight = at::empty(parameter.shape, at::kFloat);
    Rng rng(derive_seed(seed, name));
    for (float& value : std::span(weight.data_ptr<float>(), static_cast<size_t>(weight.numel())))
      value = static_cast<float>(rng.normal() * deviation);
    weights.emplace(name, std::move(weight));
  }
  return weights;
}

std::map<std::string, at::Tensor> initial_extra_heads(
    const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
    const ExtraHeadShape& shape) {
  const at::Tensor& head =
      weights.at(config.tied_head ? "model.embed_tokens.weight" : "lm_head.weight");
  std::map<std::string, at::Tensor> begun;
  for (const Parameter& parameter : extra_head_parameters(config, shape.heads, shape.blocks))
    begun.emplace(parameter.name, parameter.name.find(".linear.") != std::string::npos
                                      ? at::zeros(parameter.shape, head.options())
                                      : head.clone());
  return begun;
}

double extra_head_weight(int head) { return std::pow(0.8, head); }

Trainer::Trainer(const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
                 const TrainerOptions& options)
    : options_(options), optimiser_(masters(config, weights, options.extra), options.adamw) {
  const at::ScalarType type = compute_type(options.dtype);
  std::map<std::string, at::Tensor> computing;
  if (options.extra.heads > 0)
    for (const auto& [name, weight] : weights) computing.emplace(name, weight.detach().to(type));
  for (const AdamW::Slot& slot : optimiser_.slots())
    leaves_.push_back(computing
                          .emplace(slot.name, slot.weight.detach()
                                                  .to(type, /*non_blocking=*/false, /*copy=*/true)
                                                  .requires_grad_(true))
                          .first->second);
  network_ = Model::Network::over(config, computing);
  network_->extra_heads = extra_heads_over(computing, options.extra.heads, options.extra.blocks);
}

void Trainer::refresh() {
  const c10::NoGradGuard no_grad;
  for (size_t i = 0; i < leaves_.size(); ++i) leaves_[i].copy_(optimiser_.slots()[i].weight);
}

std::vector<std::span<const TrainingSample* const>> Trainer::cut(
    std::span<const TrainingSample* const> samples) const {
  const auto tokens_of = [](const TrainingSample* sample) { return std::ssize(sample->tokens); };
  std::int64_t total = 0;
  for (const TrainingSample* sample : samples) total += tokens_of(sample);
  const std::int64_t workers = options_.workers;
  const std::int64_t round = workers * options_.micro_tokens;
  const std::int64_t pieces = (total + round - 1) / round * workers;

  std::vector<std::span<const TrainingSample* const>> all;
  size_t begin = 0;
  std::int64_t before = 0;  // tokens before sample i
  for (size_t i = 0; i < samples.size(); ++i) {
    // A sample belongs to the piece in which its middle falls.
    const auto piece_of = [&](std::int64_t start, const TrainingSample* sample) {
      return (2 * start + tokens_of(sample)) * pieces / (2 * total);
    };
    const std::int64_t after = before + tokens_of(samples[i]);
    if (i + 1 == samples.size() || piece_of(after, samples[i + 1]) > piece_of(before, samples[i])) {
      all.push_back(samples.subspan(begin, i + 1 - begin));
      begin = i + 1;
    }
    before = after;
  }
  return all;
}

void Trainer::deal(size_t count, const std::function<void(size_t worker, size_t i)>& f) const {
  const auto workers = std::min<size_t>(static_cast<size_t>(options_.workers), count);
  std::vector<std::exception_ptr> failures(workers);
  const auto work = [&](size_t worker) {
    try {
      for (size_t i = worker; i < count; i += workers) f(worker, i);
    } catch (...) {
      failures[worker] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(work, worker);
    if (workers > 0) work(0);
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

at::Tensor Trainer::Scores::summed_loss() const {
  return at::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum);
}

double Trainer::weight_of(size_t i) const {
  return options_.extra.heads > 0 ? extra_head_weight(static_cast<int>(i) + 1) : 1.0;
}

std::vector<std::int64_t> Trainer::target_counts(
    std::span<const TrainingSample* const> samples) const {
  std::vector<std::int64_t> counts(static_cast<size_t>(std::max(1, options_.extra.heads)));
  for (const TrainingSample* sample : samples)
    if (options_.extra.heads == 0)
      counts[0] += std::ssize(sample->targets);
    else
      for (const Continuation& row : continuations(*sample, options_.extra.heads))
        for (size_t i = 0; i < row.tokens.size(); ++i) ++counts[i];
  return counts;
}

std::vector<Trainer::Scores> Trainer::scores(std::span<const TrainingSample* const> samples) const {
  const int heads = options_.extra.heads;
  std::vector<PackedSequence> packed;
  std::vector<std::int64_t> rows;  // that some head in training has a target at
  std::vector<std::vector<std::int64_t>> members(static_cast<size_t>(std::max(1, heads))),
      targets = members;  // by head: which of these rows, and the targets there
  std::int64_t begin = 0;
  for (const TrainingSample* sample : samples) {
    packed.push_back({sample->tokens, sample->labels, &sample->segments});
    if (heads == 0)
      for (const auto& [row, target] : sample->targets) {
        rows.push_back(begin + row);
        targets[0].push_back(target);
      }
    else
      for (const Continuation& next : continuations(*sample, heads)) {
        for (size_t i = 0; i < next.tokens.size(); ++i) {
          members[i].push_back(std::ssize(rows));
          targets[i].push_back(next.tokens[i]);
        }
        rows.push_back(begin + next.row);
      }
    begin += std::ssize(sample->tokens);
  }
  std::vector<Scores> all;
  const auto add = [&](const at::Tensor& logits) {
    const at::ScalarType wide = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    all.push_back({logits.to(wide), at::tensor(targets[all.size()], at::kLong)});
  };
  if (heads == 0) {
    add(logits(*network_, packed, rows));
    return all;
  }
  const at::Tensor z = [&] {
    const c10::NoGradGuard no_grad;
    return head_inputs(*network_, packed, rows);
  }();
  for (size_t i = 0; i < members.size(); ++i)
    add(network_->extra_heads[i](z.index_select(0, at::tensor(members[i], at::kLong))));
  return all;
}

std::vector<at::Tensor> Trainer::gradients(std::span<const TrainingSample* const> batch,
                                           Report& report) {
  for (const TrainingSample* sample : batch) report.tokens += std::ssize(sample->tokens);
  const std::vector<std::int64_t> counts = target_counts(batch);
  report.targets = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (report.targets == 0) throw ConfigError("a batch has no target, expected at least one");
  const auto pieces = cut(batch);
  std::vector<double> losses(pieces.size());
  std::vector<std::vector<at::Tensor>> sums(static_cast<size_t>(options_.workers));
  deal(pieces.size(), [&](size_t worker, size_t i) {
    const std::vector<Scores> heads = scores(pieces[i]);
    at::Tensor loss;
    for (size_t head = 0; head < heads.size(); ++head) {
      const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[head]));
      const at::Tensor part = heads[head].summed_loss() * weight_of(head) / count;
      loss = loss.defined() ? loss + part : part;
    }
    losses[i] = loss.item<double>();
    add_to(sums[worker], torch::autograd::grad({loss}, leaves_));
  });
  for (const double loss : losses) report.loss += loss;
  for (size_t worker = 1; worker < sums.size(); ++worker)
    if (!sums[worker].empty()) add_to(sums.front(), sums[worker]);
  if (!std::isfinite(report.loss))
    throw RunError(str("the loss is ", report.loss,
                       "; use a lower --lr, a longer --warmup or a smaller --clip"));
  return std::move(sums.front());
}

Trainer::Report Trainer::step(std::span<const TrainingSample* const> batch, double learning_rate) {
  Report report;
  std::vector<at::Tensor> all = gradients(batch, report);
  report.gradient_norm = clip_by_global_norm(all, options_.clip);
  optimiser_.step(all, learning_rate);
  refresh();
  return report;
}

Trainer::Measure Trainer::measure(std::span<const TrainingSample* const> samples) {
  const auto pieces = cut(samples);
  const std::vector<std::int64_t> counts = target_counts(samples);
  struct Sums {
    std::vector<double> losses, right;  // by head
  };
  std::vector<Sums> sums(pieces.size());
  deal(pieces.size(), [&](size_t, size_t i) {
    const c10::NoGradGuard no_grad;
    for (const Scores& head : scores(pieces[i])) {
      sums[i].losses.push_back(head.summed_loss().item<double>());
      sums[i].right.push_back(head.logits.argmax(1).eq(head.targets).sum().item<double>());
    }
  });
  Measure measure;
  for (size_t head = 0; head < counts.size(); ++head) {
    double loss = 0, right = 0;
    for (const Sums& piece : sums) {
      loss += piece.losses[head];
      right += piece.right[head];
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[head]));
    measure.loss += weight_of(head) * loss / count;
    measure.accuracy.push_back(right / count);
  }
  return measure;
}

}  // namespace pardec
