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

class ProcessGroup;  // src/training/process_group.hpp
class Trainer;       // src/training/trainer.hpp

/// Where samples come from.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The samples of one epoch, counted from 0, in the order of their use; equal calls, equal
  /// samples.
  virtual std::vector<TrainingSample> epoch(std::int64_t epoch) const = 0;
  /// Samples that are never trained on; may be empty.
  virtual std::vector<TrainingSample> validation() const = 0;
};

struct LoopOptions {
  std::int64_t batch_tokens = 16384;  ///< fed tokens of one update at most (one sample at least)
  std::int64_t batch_sequences = 0;   ///< so many samples an update instead; 0: by tokens
  std::int64_t steps = 0;  ///< updates in all; 0: `epochs` times those of the first epoch
  double epochs = 1;
  double learning_rate = 1e-3;
  double warmup = 0.03;             ///< share of the steps
  double floor = 0.0;               ///< share of the learning rate at the end
  std::int64_t save_every = 0;      ///< updates between checkpoints; 0: only at the end
  std::int64_t validate_every = 0;  ///< updates between validations; 0: a twentieth of the run
  /// Stops behind so many validations in a row that are no better than the best, and goes back to
  /// the weights of that one; 0: never.
  std::int64_t patience = 0;
  /// Stops after the update in which so many minutes of this sitting are over, as if it were the
  /// last, and may be resumed; 0: never. Rank 0's holds for a group.
  double minutes = 0;
};

struct LoopResult {
  std::int64_t steps = 0, tokens = 0;
  std::int64_t planned = 0;            ///< updates of the whole run
  bool out_of_time = false;            ///< `minutes` ended it
  double seconds = 0, train_loss = 0;  ///< of the last update
  std::optional<double> validation_loss;
  GuessRanks validation_ranks;  ///< empty: nothing is held out
  std::int64_t best_step = 0;   ///< with patience: the update whose weights are kept; 0: the last
};

/// How many samples from `begin` on make one batch.
size_t batch_size(const std::vector<TrainingSample>& samples, size_t begin,
                  const LoopOptions& options);

/// Trains until the steps are done. Into `folder`, while it runs: state.safetensors (resumed from
/// where `resume`; the weights then end bit for bit as without the break, on the same machine with
/// the same number of threads), with patience best.safetensors of the same kind, and loss.csv. In
/// the trainer's group rank 0 alone reads and writes there. `report` is called after each update.
LoopResult train(Trainer& trainer, const SampleSource& source, const LoopOptions& options,
                 const std::filesystem::path& folder, bool resume, const Clock& clock,
                 const std::function<void(const LossRow&, std::int64_t steps)>& report);

/// A run from weights to weights.
struct TrainingRun {
  const Trainable& what;
  std::optional<std::filesystem::path> start = {};  ///< a checkpoint folder; none: random weights
  std::uint64_t seed = 1;                           ///< of random weights
  TrainerOptions trainer = {};
  LoopOptions loop = {};
  ProcessGroup* group = nullptr;  ///< null: it is alone
};

/// Makes a Trainer, trains it as above, and writes what learned into its files of `folder` at the
/// end, in bf16.
LoopResult train_model(const TrainingRun& run, const SampleSource& source,
                       const std::filesystem::path& folder, bool resume, const Clock& clock,
                       const std::function<void(const LossRow&, std::int64_t steps)>& report);

}  // namespace pardec
