#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/model/transformer.hpp"
#include "src/training/adamw.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// float32 weights of a shape, random as suits training: matrices and the embedding normal with
/// deviation initializer_range, what writes into the residual stream (o_proj, down_proj) smaller by
/// sqrt(2 * layers) (GPT-2's recipe), norms 1, biases 0. Each weight has a seed of its own.
std::map<std::string, at::Tensor> initial_weights(const ModelConfig& config, std::uint64_t seed);

/// Extra heads as Medusa's authors begin them, by the names of `extra_head_parameters` and of the
/// network's type: blocks of zeros, which change nothing, and the matrix of the network's own head.
std::map<std::string, at::Tensor> initial_extra_heads(
    const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
    const ExtraHeadShape& shape);

/// What of extra head h's loss counts: 0.8^h, h from 1. Source: Medusa (arXiv:2401.10774), section
/// 2.2.1. (Heads share no weight, so it only decides how they share the limit of the gradients'
/// norm.)
double extra_head_weight(int head);

/// A network in training: master weights, the weights that compute, and the optimiser. What learns
/// is the network, by the choices of its own head; or extra heads alone, over a network that stays
/// as it is (Medusa-1).
class Trainer {
 public:
  /// `weights` by checkpoint name, float32 (float64 for fp64). They become the masters, or, where
  /// extra heads are trained, what these begin from.
  Trainer(const ModelConfig& config, const std::map<std::string, at::Tensor>& weights,
          const TrainerOptions& options);

  struct Report {
    double loss = 0;                       ///< before the update
    double gradient_norm = 0;              ///< before clipping
    std::int64_t tokens = 0, targets = 0;  ///< targets of all heads in training
  };
  /// One update from the loss of the batch: the mean cross-entropy over its targets; of extra
  /// heads, the sum of each one's mean times `extra_head_weight`. RunError when the loss is not
  /// finite, before anything changes.
  Report step(std::span<const TrainingSample* const> batch, double learning_rate);

  /// The same gradients without an update, in the order of the optimiser's slots.
  std::vector<at::Tensor> gradients(std::span<const TrainingSample* const> batch, Report& report);

  /// The loss over all samples, without gradients.
  double loss(std::span<const TrainingSample* const> samples) { return measure(samples).loss; }

  struct Measure {
    double loss = 0;
    std::vector<double> accuracy;  ///< by head in training: share of targets that it chooses
  };
  Measure measure(std::span<const TrainingSample* const> samples);

  AdamW& optimiser() { return optimiser_; }
  const AdamW& optimiser() const { return optimiser_; }
  const Model::Network& network() const { return *network_; }
  /// After masters were changed from outside: the computing weights follow.
  void refresh();

 private:
  /// One head at the rows that have a target of it.
  struct Scores {
    at::Tensor logits;   ///< [n, vocab], float32 at least
    at::Tensor targets;  ///< [n]
    at::Tensor summed_loss() const;
  };
  /// Of each head in training.
  std::vector<Scores> scores(std::span<const TrainingSample* const> samples) const;
  std::vector<std::int64_t> target_counts(std::span<const TrainingSample* const> samples) const;
  /// What the mean loss of the i-th head in training counts.
  double weight_of(size_t i) const;
  /// Consecutive pieces of about equal work, a multiple of the workers where there are enough
  /// samples.
  std::vector<std::span<const TrainingSample* const>> cut(
      std::span<const TrainingSample* const> samples) const;
  /// Calls f(worker, i) for every i below `count`: worker w takes w, w + workers, ... in this
  /// order, so that sums by worker do not depend on timing.
  void deal(size_t count, const std::function<void(size_t worker, size_t i)>& f) const;

  TrainerOptions options_;
  std::unique_ptr<Model::Network> network_;
  std::vector<at::Tensor> leaves_;  ///< the network's weights, in the order of the slots
  AdamW optimiser_;
};

}  // namespace pardec
