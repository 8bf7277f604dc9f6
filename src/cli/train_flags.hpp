#pragma once
// The flags of `pardec train`.
#include <string>

#include "src/cli/command_line.hpp"
#include "src/finetune/training_spec.hpp"

namespace pardec {

struct TrainFlags {
  TrainingSpec spec;
  std::string progress = "auto";
  int threads = 0;
};

/// Adds them; `flags` outlives the parsing.
void add_train_flags(CLI::App& app, TrainFlags& flags);

}  // namespace pardec
