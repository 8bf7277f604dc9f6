#include "src/training/trainer.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>

#include "src/group/group.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Master weights of the trained parameters, in order.
std::vector<AdamW::Master> masters(const Trainable& what,
                                   const std::map<std::string, at::Tensor>& weights,
                                   const TrainerOptions& options) {
  const at::ScalarType type = options.dtype == Dtype::fp64 ? at::kDouble : at::kFloat;
  const at::Device device = parse_device(options.device);
  std::vector<AdamW::Master> ordered;
  for (const Parameter& parameter : what.parameters())
    ordered.push_back(
        {parameter.name, what.begin(parameter, weights).to(device, type), decays(parameter)});
  return ordered;
}

/// sum += gradients, in float32 or wider. An empty sum and a missing gradient count as 0.
void add_to(std::vector<at::Tensor>& sum, const std::vector<at::Tensor>& gradients) {
  const c10::NoGradGuard no_grad;
  sum.resize(gradients.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const at::Tensor wide =
        gradients[i].scalar_type() == at::kDouble ? gradients[i] : gradients[i].to(at::kFloat);
    if (!sum[i].defined())
      sum[i] = wide.contiguous();
    else
      sum[i].add_(wide);
  }
}

/// Replaces the numbers with their sum over all processes. REQUIRES: on the CPU, contiguous,
/// float32 or float64.
void sum_over(Group& group, const at::Tensor& tensor) {
  const auto size = static_cast<size_t>(tensor.numel());
  if (tensor.scalar_type() == at::kDouble)
    group.sum(std::span(tensor.mutable_data_ptr<double>(), size));
  else
    group.sum(std::span(tensor.mutable_data_ptr<float>(), size));
}

/// Approximate number of logits in one part.
constexpr std::int64_t kPartLogits = std::int64_t{1} << 23;

}  // namespace

Trainer::Trainer(const Trainable& what, std::map<std::string, at::Tensor> weights,
                 const TrainerOptions& options, Group* group)
    : what_(what),
      losses_(what.losses()),
      weights_(std::move(weights)),
      options_(options),
      group_(group),
      optimiser_(masters(what, weights_, options), options.adamw) {
  const at::ScalarType type = scalar_type(options.dtype);
  const at::Device device = parse_device(options.device);
  std::map<std::string, at::Tensor> computing;
  for (const AdamW::Slot& slot : optimiser_.slots()) {
    leaves_.push_back(
        slot.weight.detach().to(type, /*non_blocking=*/false, /*copy=*/true).requires_grad_(true));
    computing.emplace(slot.name, leaves_.back());
  }
  for (const auto& [name, weight] : weights_)
    if (!computing.contains(name)) computing.emplace(name, weight.detach().to(device, type));
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

size_t Trainer::all_workers() const {
  return static_cast<size_t>(options_.workers) * static_cast<size_t>(group_ ? group_->size() : 1);
}

std::vector<std::span<const TrainingSample* const>> Trainer::cut(
    std::span<const TrainingSample* const> samples) const {
  const auto tokens_of = [](const TrainingSample* sample) { return std::ssize(sample->tokens); };
  std::int64_t total = 0;
  for (const TrainingSample* sample : samples) total += tokens_of(sample);
  const auto workers = static_cast<std::int64_t>(all_workers());
  const std::int64_t round = workers * options_.micro_tokens;
  const std::int64_t pieces = (total + round - 1) / round * workers;

  std::vector<std::span<const TrainingSample* const>> all;
  size_t begin = 0;
  std::int64_t before = 0;  // tokens before sample i
  for (size_t i = 0; i < samples.size(); ++i) {
    // A sample belongs to the piece that contains its middle.
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
  const auto own = static_cast<size_t>(options_.workers);
  const size_t all = std::min(all_workers(), count);
  const size_t first = own * static_cast<size_t>(group_ ? group_->rank() : 0);
  // number of own workers with work
  const size_t workers = std::min(own, all - std::min(all, first));
  std::vector<std::exception_ptr> failures(workers);
  const auto work = [&](size_t worker) {
    try {
      for (size_t i = first + worker; i < count; i += all) f(worker, i);
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

std::vector<std::int64_t> Trainer::target_counts(
    std::span<const TrainingSample* const> samples) const {
  std::vector<std::int64_t> counts(losses_.size());
  for (const TrainingSample* sample : samples)
    for (const RowTargets& at : what_.targets(*sample))
      for (size_t loss = 0; loss < at.tokens.size(); ++loss) ++counts[loss];
  return counts;
}

/// Samples that are computed together.
struct Trainer::Packed {
  std::vector<PackedSequence> sequences;
  std::vector<std::int64_t> rows;  ///< rows with a target for some loss, counted over all samples
  struct OfLoss {
    std::vector<std::int64_t> members, tokens;  ///< indices into `rows`, and the targets there
  };
  std::vector<OfLoss> losses;
};

Trainer::Packed Trainer::pack(std::span<const TrainingSample* const> samples) const {
  Packed packed;
  packed.losses.resize(losses_.size());
  std::int64_t begin = 0;
  for (const TrainingSample* sample : samples) {
    packed.sequences.push_back({sample->tokens, sample->labels, &sample->segments});
    for (const RowTargets& at : what_.targets(*sample)) {
      for (size_t loss = 0; loss < at.tokens.size(); ++loss) {
        packed.losses[loss].members.push_back(std::ssize(packed.rows));
        packed.losses[loss].tokens.push_back(at.tokens[loss]);
      }
      packed.rows.push_back(begin + at.row);
    }
    begin += std::ssize(sample->tokens);
  }
  return packed;
}

std::vector<Trainer::Part> Trainer::parts(const Packed& packed) const {
  const std::int64_t most = std::max<std::int64_t>(1, kPartLogits / network_->config.vocab_size);
  std::vector<Part> all;
  for (size_t loss = 0; loss < packed.losses.size(); ++loss) {
    const at::Tensor members = on_device(*network_, packed.losses[loss].members);
    const at::Tensor tokens = on_device(*network_, packed.losses[loss].tokens);
    for (std::int64_t at = 0; at < members.numel(); at += most) {
      const std::int64_t count = std::min(most, members.numel() - at);
      all.push_back({loss, members.narrow(0, at, count), tokens.narrow(0, at, count)});
    }
  }
  return all;
}

namespace {

/// Summed cross-entropy, in float32 or wider.
at::Tensor summed_loss(const at::Tensor& logits, const at::Tensor& targets) {
  const at::ScalarType wide = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  return at::cross_entropy_loss(logits.to(wide), targets, {}, at::Reduction::Sum);
}

constexpr std::int64_t kRanks = 32;

/// Number of ids that rank before each target; the lower id wins a tie.
at::Tensor ranks_of(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor target = targets.unsqueeze(1), own = logits.gather(1, target);
  const at::Tensor lower = at::arange(logits.size(1), targets.options()).lt(target);
  // Counts the ids that do not rank after the target; a comparison with NaN is never true.
  return (logits.lt(own) | (logits.eq(own) & lower.logical_not())).logical_not().sum(1);
}

}  // namespace

std::vector<at::Tensor> Trainer::gradients(std::span<const TrainingSample* const> batch,
                                           Report& report) {
  for (const TrainingSample* sample : batch) report.tokens += std::ssize(sample->tokens);
  const std::vector<std::int64_t> counts = target_counts(batch);
  report.targets = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (report.targets == 0) throw ConfigError("a batch has no target, expected at least one");
  const auto pieces = cut(batch);
  std::vector<double> losses(pieces.size());
  std::vector<std::vector<at::Tensor>> sums(static_cast<size_t>(options_.workers));
  const auto gradients_of = [](const at::Tensor& what, const std::vector<at::Tensor>& by,
                               const std::vector<at::Tensor>& gradient) {
    return torch::autograd::grad({what}, by, gradient, /*retain_graph=*/std::nullopt,
                                 /*create_graph=*/false, /*allow_unused=*/true);
  };
  deal(pieces.size(), [&](size_t worker, size_t i) {
    const Packed packed = pack(pieces[i]);
    if (packed.rows.empty()) return;
    const at::Tensor inputs = head_inputs(
        *network_, packed.sequences, packed.rows,
        {.checkpoint_activations = options_.checkpoint_activations,
         .dropout_seed = derive_seed(options_.seed, str("dropout ", optimiser_.steps(), " ", i))});
    // First the heads, part by part, each with its gradients; then the layers. The layers need only
    // the gradients of the heads' inputs.
    const at::Tensor of_inputs = at::zeros_like(inputs);
    for (const auto& [loss, members, targets] : parts(packed)) {
      const at::Tensor read =
          inputs.detach().index_select(0, members).requires_grad_(inputs.requires_grad());
      const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[loss]));
      const at::Tensor part = summed_loss(what_.logits(*network_, loss, read), targets) *
                              (losses_[loss].weight / count);
      losses[i] += part.item<double>();
      if (!part.requires_grad()) continue;
      std::vector<at::Tensor> asked = leaves_;
      if (read.requires_grad()) asked.push_back(read);
      std::vector<at::Tensor> found = gradients_of(part, asked, {});
      if (read.requires_grad()) {
        of_inputs.index_add_(0, members, found.back());
        found.pop_back();
      }
      add_to(sums[worker], found);
    }
    if (inputs.requires_grad()) add_to(sums[worker], gradients_of(inputs, leaves_, {of_inputs}));
  });
  for (const double loss : losses) report.loss += loss;
  for (size_t worker = 1; worker < sums.size(); ++worker)
    if (!sums[worker].empty()) add_to(sums.front(), sums[worker]);
  sums.front().resize(leaves_.size());
  for (size_t i = 0; i < leaves_.size(); ++i)  // e.g. a token that does not occur in this batch
    if (!sums.front()[i].defined()) sums.front()[i] = at::zeros_like(optimiser_.slots()[i].weight);
  if (group_) {
    group_->sum({&report.loss, 1});
    for (at::Tensor& sum : sums.front()) {
      const at::Tensor shared = sum.cpu().contiguous();
      sum_over(*group_, shared);
      sum = shared.to(network_->device);
    }
  }
  if (!std::isfinite(report.loss))
    throw RunError(str("the loss is ", report.loss,
                       "; use a lower `lr`, a longer `warmup` or a smaller `clip`"));
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
  const auto by_loss = static_cast<std::int64_t>(losses_.size());
  // per piece: the losses, then the targets of each rank; [1 + ranks, loss]
  std::vector<at::Tensor> sums(pieces.size(), at::zeros({1 + kRanks, by_loss}, at::kDouble));
  deal(pieces.size(), [&](size_t, size_t i) {
    const c10::NoGradGuard no_grad;
    const Packed packed = pack(pieces[i]);
    if (packed.rows.empty()) return;
    sums[i] = at::zeros_like(sums[i]);
    const at::Tensor inputs = head_inputs(*network_, packed.sequences, packed.rows);
    for (const auto& [loss, members, targets] : parts(packed)) {
      const at::Tensor logits = what_.logits(*network_, loss, inputs.index_select(0, members));
      const auto column = static_cast<std::int64_t>(loss);
      sums[i][0][column] += summed_loss(logits, targets).cpu();
      sums[i].slice(0, 1).select(1, column) +=
          at::bincount(ranks_of(logits, targets).clamp_max(kRanks), {}, kRanks + 1)
              .slice(0, 0, kRanks)
              .cpu();
    }
  });
  const at::Tensor total = at::zeros({1 + kRanks, by_loss}, at::kDouble);
  for (const at::Tensor& piece : sums) total.add_(piece);
  if (group_) sum_over(*group_, total);
  Measure measure;
  for (size_t loss = 0; loss < losses_.size(); ++loss) {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, counts[loss]));
    const auto column = static_cast<std::int64_t>(loss);
    measure.loss += losses_[loss].weight * total[0][column].item<double>() / count;
    auto& ranks = measure.ranks.emplace_back();
    for (std::int64_t rank = 0; rank < kRanks; ++rank)
      ranks.push_back(total[1 + rank][column].item<double>() / count);
  }
  return measure;
}

}  // namespace pardec
