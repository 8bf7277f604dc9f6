#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "src/finetune/training_spec.hpp"
#include "src/support/notes.hpp"

namespace pardec {

/// Performs one training run, or continues a run that was stopped: reads the data, trains, and
/// writes the record and the trained model to `spec.out`. `notes` receives messages about progress
/// and results, line by line. ConfigError, ModelError, DataError, RunError.
/// With a group (null: a single process), all its processes train together, each on its share of
/// every batch. Only rank 0 reads and writes `spec.out`, and has messages. ConfigError: the
/// settings of a process differ from those of rank 0.
void finetune(const TrainingSpec& spec, const Notes& notes, Group* group = nullptr);

/// The progress of the training run in a folder, from its record and its last checkpoint.
struct TrainingProgress {
  bool finished = false;
  /// number of updates that resuming would keep
  std::int64_t steps = 0;
  /// number of updates of the whole run; 0: not recorded
  std::int64_t planned = 0;
  double seconds = 0;                                    ///< time that these `steps` updates took
  std::optional<double> validation_loss = std::nullopt;  ///< at the end
};
/// None: the folder has no record of a training run. DataError, ModelError: a file is damaged.
std::optional<TrainingProgress> training_progress(const std::filesystem::path& folder);

}  // namespace pardec
