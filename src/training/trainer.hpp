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
#include "src/training/trainable.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

class Group;  // src/group/group.hpp

/// A network in training: master weights, computing weights, and optimiser.
class Trainer {
 public:
  /// `weights`: the network's by checkpoint name; masters start from them. Masters are float32
  /// (float64 for fp64), and share memory with weights of that type. `what` and `group` must
  /// outlive the trainer. With a group (null: a single process), every process makes the calls
  /// below with the same samples, computes its share, and gets the result for all samples.
  Trainer(const Trainable& what, std::map<std::string, at::Tensor> weights,
          const TrainerOptions& options, Group* group = nullptr);

  struct Report {
    double loss = 0;                       ///< before the update
    double gradient_norm = 0;              ///< before clipping
    std::int64_t tokens = 0, targets = 0;  ///< number of targets of all losses
  };
  /// One update from the batch. The loss is the sum over losses of their mean cross-entropy over
  /// their targets, times their weight. RunError, before anything changes: the loss is not finite.
  Report step(std::span<const TrainingSample* const> batch, double learning_rate);

  /// The gradients of such an update, in the order of the optimiser's slots, without the update.
  std::vector<at::Tensor> gradients(std::span<const TrainingSample* const> batch, Report& report);

  /// The loss over all samples, without gradients.
  double loss(std::span<const TrainingSample* const> samples) { return measure(samples).loss; }

  struct Measure {
    double loss = 0;
    GuessRanks ranks;
  };
  Measure measure(std::span<const TrainingSample* const> samples);

  const Trainable& what() const { return what_; }
  Group* group() const { return group_; }
  AdamW& optimiser() { return optimiser_; }
  const AdamW& optimiser() const { return optimiser_; }
  const Model::Network& network() const { return *network_; }
  /// The tensors to write at the end, by name: Trainable::exported of the masters.
  std::vector<std::pair<std::string, at::Tensor>> exported() const;
  /// Updates the computing weights after masters were changed from outside.
  void refresh();

 private:
  struct Packed;
  /// Some rows with targets for one loss.
  struct Part {
    size_t loss;
    at::Tensor members;  ///< [n], indices into the rows of the pass
    at::Tensor targets;  ///< [n]
  };
  /// The rows with targets, in parts, so that their logits need little memory.
  std::vector<Part> parts(const Packed& packed) const;
  Packed pack(std::span<const TrainingSample* const> samples) const;
  /// Number of targets per loss.
  std::vector<std::int64_t> target_counts(std::span<const TrainingSample* const> samples) const;
  /// Number of workers of all processes.
  size_t all_workers() const;
  /// Divides the samples into consecutive pieces of about equal work. The number of pieces is a
  /// multiple of the number of all workers if there are enough samples.
  std::vector<std::span<const TrainingSample* const>> cut(
      std::span<const TrainingSample* const> samples) const;
  /// Calls f(worker, i) for this process's share of all i < `count`. Of all workers, counted over
  /// the processes, the w-th handles w, w + workers, ... in this order, so that sums per worker do
  /// not depend on timing.
  void deal(size_t count, const std::function<void(size_t worker, size_t i)>& f) const;

  const Trainable& what_;
  const std::vector<Trainable::Loss> losses_;
  std::map<std::string, at::Tensor> weights_;  ///< as given
  TrainerOptions options_;
  Group* group_;
  AdamW optimiser_;
  /// trained weights in their computing form, in the order of the slots
  std::vector<at::Tensor> leaves_;
  std::unique_ptr<Model::Network> network_;
};

}  // namespace pardec
