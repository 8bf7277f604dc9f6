#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/model/model.hpp"
#include "src/support/clock.hpp"
#include "src/training/loss_log.hpp"
#include "src/training/trainable.hpp"
#include "src/training/trainer_options.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

class Group;    // src/group/group.hpp
class Trainer;  // src/training/trainer.hpp

/// Provides the training samples.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The samples of one epoch, counted from 0, in their order of use. Equal calls return equal
  /// samples.
  virtual std::vector<TrainingSample> epoch(std::int64_t epoch) const = 0;
  /// Samples that are never trained on; may be empty.
  virtual std::vector<TrainingSample> validation() const = 0;
};

struct LoopOptions {
  /// maximum number of tokens per update (but at least one sample)
  std::int64_t batch_tokens = 16384;
  std::int64_t batch_sequences = 0;  ///< number of samples per update instead; 0: by tokens
  std::int64_t steps = 0;  ///< total number of updates; 0: `epochs` times those of the first epoch
  double epochs = 1;
  double learning_rate = 1e-3;
  double warmup = 0.03;             ///< share of the steps
  double floor = 0.0;               ///< share of the learning rate at the end
  std::int64_t save_every = 0;      ///< updates between checkpoints; 0: only at the end
  std::int64_t validate_every = 0;  ///< updates between validations; 0: a twentieth of the run
  /// Stops after this many consecutive validations without a new best one, and returns to the
  /// weights of the best; 0: never.
  std::int64_t patience = 0;
  /// Stops after the update in which this session reaches so many minutes, as if it were the last;
  /// the run can be resumed. 0: never. In a group, rank 0's value applies.
  double minutes = 0;
};

struct LoopResult {
  std::int64_t steps = 0, tokens = 0;
  std::int64_t planned = 0;            ///< number of updates of the whole run
  bool out_of_time = false;            ///< `minutes` ended the run
  double seconds = 0, train_loss = 0;  ///< of the last update
  std::optional<double> validation_loss;
  GuessRanks validation_ranks;  ///< empty: there are no validation samples
  std::int64_t best_step = 0;   ///< with patience: the update whose weights are kept; 0: the last
};

/// Number of samples from `begin` on that make one batch.
size_t batch_size(const std::vector<TrainingSample>& samples, size_t begin,
                  const LoopOptions& options);

/// Trains until all steps are done. While running, writes into `folder`: state.safetensors; with
/// patience also best.safetensors of the same kind; and loss.csv. `resume`: continues from
/// state.safetensors; the final weights are then bitwise the same as without the interruption, on
/// the same machine with the same number of threads. In the trainer's group, only rank 0 reads and
/// writes files. `report` is called after each update.
LoopResult train(Trainer& trainer, const SampleSource& source, const LoopOptions& options,
                 const std::filesystem::path& folder, bool resume, const Clock& clock,
                 const std::function<void(const LossRow&, std::int64_t steps)>& report);

/// A whole training run, from initial weights to exported weights.
struct TrainingRun {
  const Trainable& what;
  std::optional<std::filesystem::path> start = {};  ///< a checkpoint folder; none: random weights
  std::uint64_t seed = 1;                           ///< seed of random weights
  TrainerOptions trainer = {};
  LoopOptions loop = {};
  Group* group = nullptr;  ///< null: a single process
};

/// Makes a Trainer, trains it as above, and writes the trained weights into their files in `folder`
/// at the end, in bf16.
LoopResult train_model(const TrainingRun& run, const SampleSource& source,
                       const std::filesystem::path& folder, bool resume, const Clock& clock,
                       const std::function<void(const LossRow&, std::int64_t steps)>& report);

}  // namespace pardec
