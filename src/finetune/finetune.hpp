#pragma once
#include <functional>
#include <string>

#include "src/finetune/training_spec.hpp"

namespace pardec {

/// One training run: reads data, trains, and writes the record and the trained model to `spec.out`;
/// or the rest of a run that was stopped. `say` receives messages about progress and results, line
/// by line. ConfigError, ModelError, DataError, RunError.
void finetune(const TrainingSpec& spec, const std::function<void(const std::string&)>& say);

}  // namespace pardec
