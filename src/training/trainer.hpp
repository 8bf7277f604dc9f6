#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/model/network.hpp"
#include "src/training/adamw.hpp"
#include "src/training/process_group.hpp"
#include "src/training/trainable.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// A network in training: the masters of what learns, the weights that compute, and the optimiser.
class Trainer {
 public:
  /// `weights`: the network's by checkpoint name, which masters begin from; they are float32
  /// (float64 for fp64), and share what has that type already. `what` and `group` outlive it.
  /// With a group (null: it is alone) every process makes the calls below with the same samples,
  /// computes its share of them, and gets the result of all.
  Trainer(const Trainable& what, std::map<std::string, at::Tensor> weights,
          const TrainerOptions& options, ProcessGroup* group = nullptr);

  struct Report {
    double loss = 0;                       ///< before the update
    double gradient_norm = 0;              ///< before clipping
    std::int64_t tokens = 0, targets = 0;  ///< targets of all losses
  };
  /// One update from the batch: each loss's mean cross-entropy over its targets, times its weight.
  /// RunError when the sum is not finite, before anything changes.
  Report step(std::span<const TrainingSample* const> batch, double learning_rate);

  /// The same gradients without an update, in the order of the optimiser's slots.
  std::vector<at::Tensor> gradients(std::span<const TrainingSample* const> batch, Report& report);

  /// The loss over all samples, without gradients.
  double loss(std::span<const TrainingSample* const> samples) { return measure(samples).loss; }

  struct Measure {
    double loss = 0;
    GuessRanks ranks;
  };
  Measure measure(std::span<const TrainingSample* const> samples);

  const Trainable& what() const { return what_; }
  ProcessGroup* group() const { return group_; }
  AdamW& optimiser() { return optimiser_; }
  const AdamW& optimiser() const { return optimiser_; }
  const Model::Network& network() const { return *network_; }
  /// What is written of it at the end, by name: what Trainable::exported makes of the masters.
  std::vector<std::pair<std::string, at::Tensor>> exported() const;
  /// After masters were changed from outside: the computing weights follow.
  void refresh();

 private:
  struct Packed;
  /// Some rows that one loss has targets at.
  struct Part {
    size_t loss;
    at::Tensor members;  ///< [n], of the rows of the pass
    at::Tensor targets;  ///< [n]
  };
  /// Where some loss has a target, in parts, so that their logits stay small.
  std::vector<Part> parts(const Packed& packed) const;
  Packed pack(std::span<const TrainingSample* const> samples) const;
  /// By loss.
  std::vector<std::int64_t> target_counts(std::span<const TrainingSample* const> samples) const;
  /// Workers of all processes.
  size_t all_workers() const;
  /// Consecutive pieces of about equal work, a multiple of all workers where there are enough
  /// samples.
  std::vector<std::span<const TrainingSample* const>> cut(
      std::span<const TrainingSample* const> samples) const;
  /// Calls f(worker, i) for this process's share of all i below `count`: of all workers, counted
  /// over the processes, the w-th takes w, w + workers, ... in this order, so that sums by worker
  /// do not depend on timing.
  void deal(size_t count, const std::function<void(size_t worker, size_t i)>& f) const;

  const Trainable& what_;
  const std::vector<Trainable::Loss> losses_;
  std::map<std::string, at::Tensor> weights_;  ///< as they were given
  TrainerOptions options_;
  ProcessGroup* group_;
  AdamW optimiser_;
  std::vector<at::Tensor> leaves_;  ///< what learns as it computes, in the order of the slots
  std::unique_ptr<Model::Network> network_;
};

}  // namespace pardec
