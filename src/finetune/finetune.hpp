#pragma once
#include "src/finetune/training_spec.hpp"

namespace pardec {

/// One training run: data, record, updates, the trained model in `spec.out`; or the rest of a run
/// that was stopped. Says on stderr what it does and what it came to. ConfigError, ModelError,
/// DataError, RunError.
void finetune(const TrainingSpec& spec);

}  // namespace pardec
