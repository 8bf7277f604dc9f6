#pragma once
#include <functional>
#include <string>

#include "src/finetune/training_spec.hpp"

namespace pardec {

/// One training run: data, record, updates, the trained model in `spec.out`; or the rest of a run
/// that was stopped. `say` takes line by line what it does and what it came to. ConfigError,
/// ModelError, DataError, RunError.
void finetune(const TrainingSpec& spec, const std::function<void(const std::string&)>& say);

}  // namespace pardec
