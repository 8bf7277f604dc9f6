#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>

#include "src/finetune/training_spec.hpp"
#include "src/support/notes.hpp"

namespace pardec {

/// One training run: reads data, trains, and writes the record and the trained model to `spec.out`;
/// or the rest of a run that was stopped. `notes` receives messages about progress and
/// results, line by line. ConfigError, ModelError, DataError, RunError.
void finetune(const TrainingSpec& spec, const Notes& notes);

/// How far the training run in a folder is, by its record and its last checkpoint.
struct TrainingProgress {
  bool finished = false;
  std::int64_t steps = 0;                                ///< updates that `resume` would keep
  std::int64_t planned = 0;                              ///< of the whole run; 0: not recorded
  double seconds = 0;                                    ///< that these updates took
  std::optional<double> validation_loss = std::nullopt;  ///< at the end
};
/// None: the folder has no record of a training run. DataError, ModelError: a file is damaged.
std::optional<TrainingProgress> training_progress(const std::filesystem::path& folder);

}  // namespace pardec
