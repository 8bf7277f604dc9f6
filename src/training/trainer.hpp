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
  /// `weights`: the network's initial weights, by checkpoint name. Master weights are float32
  /// (float64 for fp64). Tensors in `weights` that already have this type and are on the device are
  /// not copied. `group`: null for a single process. With a group, every process calls the
  /// functions below with the same samples, computes its share, and receives the results for all
  /// samples. `what` and `group` must outlive the trainer. ModelError: the device does not exist.
  /// c10::Error: libtorch fails, e.g. for lack of GPU memory.
  Trainer(const Trainable& what, std::map<std::string, at::Tensor> weights,
          const TrainerOptions& options, Group* group = nullptr);

  /// The numbers of one update.
  struct Report {
    double loss = 0;           ///< total loss before the update
    double gradient_norm = 0;  ///< 2-norm before clipping
    /// numbers of tokens and of targets in the batch; a row has up to one target for each loss
    std::int64_t tokens = 0, targets = 0;
  };
  /// Performs one update from a batch. The total loss is the sum over all losses of weight times
  /// mean cross-entropy (in nats) over the loss's targets. Nothing changes after an error.
  /// ConfigError: the batch has no target. ModelError: a sample has a token or position that the
  /// network does not have. RunError: the loss is not finite, or another process of the group does
  /// not answer. c10::Error: as for the constructor.
  Report step(std::span<const TrainingSample* const> batch, double learning_rate);

  /// Computes the gradients of an update without performing it, in the order of the optimiser's
  /// slots. Sets all members of `report` except gradient_norm. REQUIRES: all members of `report`
  /// are 0. Errors: see step.
  std::vector<at::Tensor> gradients(std::span<const TrainingSample* const> batch, Report& report);

  /// Computes the total loss over all samples, without gradients. Errors: see measure.
  double loss(std::span<const TrainingSample* const> samples) { return measure(samples).loss; }

  /// The result of `measure`.
  struct Measure {
    double loss = 0;  ///< total loss; a loss without targets counts as 0
    GuessRanks ranks;
  };
  /// Computes the total loss and the ranks of the targets over all samples, without gradients.
  /// Without samples, all numbers are 0. Errors: see step; but missing targets and a loss that is
  /// not finite are no errors here.
  Measure measure(std::span<const TrainingSample* const> samples);

  const Trainable& what() const { return what_; }
  Group* group() const { return group_; }
  AdamW& optimiser() { return optimiser_; }
  const AdamW& optimiser() const { return optimiser_; }
  const Model::Network& network() const { return *network_; }
  /// The tensors to write at the end: Trainable::exported for the current master weights.
  std::vector<std::pair<std::string, at::Tensor>> exported() const;
  /// Updates the computing weights. Call this after changing master weights directly.
  void refresh();

 private:
  struct Packed;
  /// Some rows with targets for one loss.
  struct Part {
    size_t loss;
    at::Tensor members;  ///< [n], indices into the rows of the pass
    at::Tensor targets;  ///< [n]
  };
  /// Divides the rows with targets into parts, so that their logits need little memory.
  std::vector<Part> parts(const Packed& packed) const;
  Packed pack(std::span<const TrainingSample* const> samples) const;
  /// Number of targets per loss.
  std::vector<std::int64_t> target_counts(std::span<const TrainingSample* const> samples) const;
  /// Number of workers over all processes.
  size_t all_workers() const;
  /// Divides the samples into consecutive pieces of about equal work. If there are enough samples,
  /// the number of pieces is a multiple of all_workers().
  std::vector<std::span<const TrainingSample* const>> cut(
      std::span<const TrainingSample* const> samples) const;
  /// Calls f(worker, i) for this process's share of i = 0, ..., count - 1. Workers are numbered
  /// over all processes; worker w handles w, w + all_workers(), ... in this order. Thus sums per
  /// worker do not depend on timing.
  void deal(size_t count, const std::function<void(size_t worker, size_t i)>& f) const;

  const Trainable& what_;
  const std::vector<Trainable::Loss> losses_;
  std::map<std::string, at::Tensor> weights_;  ///< the constructor's `weights`
  TrainerOptions options_;
  Group* group_;
  AdamW optimiser_;
  /// trained weights in the computing type, in the order of the slots
  std::vector<at::Tensor> leaves_;
  std::unique_ptr<Model::Network> network_;
};

}  // namespace pardec
