#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "src/finetune/training_spec.hpp"
#include "src/support/notes.hpp"

namespace pardec {

/// Performs a training run, or continues a run that was stopped: reads the data, trains, and writes
/// the record and the trained weights to `spec.out`. `notes` receives messages about progress and
/// results. `group`: null for a single process; otherwise all processes of the group train
/// together, each on its share of every batch. Then only rank 0 reads and writes `spec.out` and
/// sends messages. ConfigError: a setting is invalid (see check, read_start, read_data), or the
/// settings of a process differ from those of rank 0; or `spec.out` contains weights or another
/// run, or cannot be made. ModelError: the starting point, the adapter or the state of the run is
/// invalid. DataError: a dataset, a prompt file or the record of the run is invalid. StoreError:
/// see answer_by_run. RunError: the loss is not finite, writing fails, another process trains into
/// `spec.out`, or a process of the group does not answer.
void finetune(const TrainingSpec& spec, const Notes& notes, Group* group = nullptr);

/// The progress of the training run in a folder, from its record and its last checkpoint.
struct TrainingProgress {
  bool finished = false;
  /// number of updates in the last checkpoint of the run; 0: there is no checkpoint
  std::int64_t steps = 0;
  /// number of updates of the whole run; 0: not recorded
  std::int64_t planned = 0;
  double seconds = 0;  ///< training time of these `steps` updates
  /// LoopResult::validation_loss in the record; none: not recorded
  std::optional<double> validation_loss = std::nullopt;
};
/// Reads the progress. None: the folder has no record of a training run. DataError: a file cannot
/// be read or is damaged.
std::optional<TrainingProgress> training_progress(const std::filesystem::path& folder);

}  // namespace pardec
