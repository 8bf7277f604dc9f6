#pragma once
#include "src/finetune/training_spec.hpp"
#include "src/support/notes.hpp"

namespace pardec {

/// One training run: reads data, trains, and writes the record and the trained model to `spec.out`;
/// or the rest of a run that was stopped. `notes` receives messages about progress and
/// results, line by line. ConfigError, ModelError, DataError, RunError.
void finetune(const TrainingSpec& spec, const Notes& notes);

}  // namespace pardec
