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
  /// The samples of one epoch, in the order of use. Epochs count from 0. The same epoch always has
  /// the same samples.
  virtual std::vector<TrainingSample> epoch(std::int64_t epoch) const = 0;
  /// Samples for validation, which are never trained on; may be empty.
  virtual std::vector<TrainingSample> validation() const = 0;
};

/// Options of train().
struct LoopOptions {
  /// maximum number of tokens per update; an update has at least one sample
  std::int64_t batch_tokens = 16384;
  /// number of samples per update; 0: `batch_tokens` determines it
  std::int64_t batch_sequences = 0;
  /// total number of updates; 0: `epochs` times the number of updates in the first epoch
  std::int64_t steps = 0;
  double epochs = 1;            ///< only if `steps` is 0; may be a fraction
  double learning_rate = 1e-3;  ///< the highest rate (Schedule::peak)
  double warmup = 0.03;         ///< share of the updates with a rising learning rate
  double floor = 0.0;           ///< share of `learning_rate` at the end
  std::int64_t save_every = 0;  ///< updates between checkpoints; 0: only at the end
  /// Updates between validations; 0: a twentieth of the run. The last update of the run is always
  /// followed by a validation.
  std::int64_t validate_every = 0;
  /// After this many consecutive validations without a new best loss, training stops, and the
  /// weights of the best validation are kept. 0: never.
  std::int64_t patience = 0;
  /// After this many minutes in this session, training stops after the current update, and the
  /// weights are written. The run can be resumed. 0: no limit. In a group, rank 0's value applies.
  double minutes = 0;
};

/// The result of train().
struct LoopResult {
  std::int64_t steps = 0, tokens = 0;  ///< numbers of updates and tokens, over all sessions
  std::int64_t planned = 0;            ///< total number of updates of the run
  bool out_of_time = false;            ///< whether LoopOptions::minutes ended the session
  double seconds = 0;                  ///< training time over all sessions
  double train_loss = 0;               ///< of the last update
  /// loss of the last validation, or, with `patience`, of the best one; none: no validation
  std::optional<double> validation_loss;
  /// of the same validation as `validation_loss`; empty: there are no validation samples
  GuessRanks validation_ranks;
  /// with patience: number of the update with the best weights; 0: the last update
  std::int64_t best_step = 0;
};

/// Number of samples in the batch that begins with samples[begin], at least 1. REQUIRES: begin <
/// samples.size().
size_t batch_size(const std::vector<TrainingSample>& samples, size_t begin,
                  const LoopOptions& options);

/// Trains until all updates are done, or until LoopOptions::patience or LoopOptions::minutes ends
/// the training earlier. Writes state.safetensors and loss.csv to `folder` while training; with
/// patience, also best.safetensors, which has the form of state.safetensors. `resume`: continues
/// from state.safetensors. The final weights are then bitwise equal to those of an uninterrupted
/// run, on the same machine with the same number of threads. In a group, only rank 0 reads and
/// writes files. `clock`: measures the training time. `report`: called after each update with the
/// update's row and with the number of updates of the whole run. ConfigError: there is no sample to
/// train on. ModelError: see load_state. DataError: see LossLog::read_through. RunError: writing
/// fails. Also the errors of Trainer::step, `source` and `report`. REQUIRES: `folder` exists.
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

/// Creates a Trainer, calls train(), and writes the trained weights in bf16 to their files in
/// `folder`. Parameters and errors: see train(); also the errors of Trainer, load_weights (with
/// run.start) and initial_weights (without). REQUIRES: run.start is set if
/// run.what.beside_network().
LoopResult train_model(const TrainingRun& run, const SampleSource& source,
                       const std::filesystem::path& folder, bool resume, const Clock& clock,
                       const std::function<void(const LossRow&, std::int64_t steps)>& report);

}  // namespace pardec
