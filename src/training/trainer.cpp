#include "src/training/trainer.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The weights that learn, in order.
std::vector<AdamW::Master> masters(const Trainable& what,
                                   const std::map<std::string, at::Tensor>& weights) {
  std::vector<AdamW::Master> ordered;
  for (const Parameter& parameter : what.parameters())
    ordered.push_back({parameter.name, what.begin(parameter, weights), decays(parameter)});
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

Trainer::Trainer(const Trainable& what, std::map<std::string, at::Tensor> weights,
                 const TrainerOptions& options)
    : what_(what),
      losses_(what.losses()),
      weights_(std::move(weights)),
      options_(options),
      optimiser_(masters(what, weights_), options.adamw) {
  const at::ScalarType type = compute_type(options.dtype);
  std::map<std::string, at::Tensor> computing;
  for (const AdamW::Slot& slot : optimiser_.slots()) {
    leaves_.push_back(
        slot.weight.detach().to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true));
    computing.emplace(slot.name, leaves_.back());
  }
  for (const auto& [name, weight] : weights_)
    if (!computing.contains(name)) computing.emplace(name, weight.detach().to(type));
  network_ = what.network(computing);
}

std::vector<std::pair<std::string, at::Tensor>> Trainer::exported() const {
  std::vector<std::pair<std::string, at::Tensor>> learned;
  for (const AdamW::Slot& slot : optimiser_.slots()) learned.emplace_back(slot.name, slot.weight);
  return what_.exported(weights_, std::move(learned));
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

std::vector<std::int64_t> Trainer::target_counts(
    std::span<const TrainingSample* const> samples) const {
  std::vector<std::int64_t> counts(losses_.size());
  for (const TrainingSample* sample : samples)
    for (const RowTargets& at : what_.targets(*sample))
      for (size_t loss = 0; loss < at.tokens.size(); ++loss) ++counts[loss];
  return counts;
}

std::vector<Trainer::Scores> Trainer::scores(std::span<const TrainingSample* const> samples) const {
  std::vector<PackedSequence> packed;
  PackedTargets targets;
  targets.losses.resize(losses_.size());
  std::int64_t begin = 0;
  for (const TrainingSample* sample : samples) {
    packed.push_back({sample->tokens, sample->labels, &sample->segments});
    for (const RowTargets& at : what_.targets(*sample)) {
      for (size_t loss = 0; loss < at.tokens.size(); ++loss) {
        targets.losses[loss].members.push_back(std::ssize(targets.rows));
        targets.losses[loss].tokens.push_back(at.tokens[loss]);
      }
      targets.rows.push_back(begin + at.row);
    }
    begin += std::ssize(sample->tokens);
  }
  std::vector<Scores> all;
  for (const at::Tensor& logits : what_.logits(*network_, packed, targets)) {
    const at::ScalarType wide = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    all.push_back({logits.to(wide), at::tensor(targets.losses[all.size()].tokens, at::kLong)});
  }
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
    const std::vector<Scores> parts = scores(pieces[i]);
    at::Tensor sum;
    for (size_t loss = 0; loss < parts.size(); ++loss) {
      const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[loss]));
      const at::Tensor part = parts[loss].summed_loss() * losses_[loss].weight / count;
      sum = sum.defined() ? sum + part : part;
    }
    losses[i] = sum.item<double>();
    add_to(sums[worker], torch::autograd::grad({sum}, leaves_));
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
    std::vector<double> losses, right;  // by loss
  };
  std::vector<Sums> sums(pieces.size());
  deal(pieces.size(), [&](size_t, size_t i) {
    const c10::NoGradGuard no_grad;
    for (const Scores& part : scores(pieces[i])) {
      sums[i].losses.push_back(part.summed_loss().item<double>());
      sums[i].right.push_back(part.logits.argmax(1).eq(part.targets).sum().item<double>());
    }
  });
  Measure measure;
  for (size_t loss = 0; loss < losses_.size(); ++loss) {
    double sum = 0, right = 0;
    for (const Sums& piece : sums) {
      sum += piece.losses[loss];
      right += piece.right[loss];
    }
    const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[loss]));
    measure.loss += losses_[loss].weight * sum / count;
    measure.accuracy.push_back(right / count);
  }
  return measure;
}

}  // namespace pardec
