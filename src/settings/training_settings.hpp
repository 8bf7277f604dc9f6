#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/finetune/training_spec.hpp"
#include "src/settings/setting.hpp"

/// What a training is told, as plain values: from JSON, from flags, or from a program.
/// make_training_spec makes of it what is trained.
namespace pardec {

struct TrainingSettings {
  /// What is told straight away. Its formats, its progress, and of `trainer` type, seed, workers
  /// and micro_tokens follow from the settings below and from `dtype` and `seed`.
  TrainingSpec spec;
  std::vector<std::string> format;  ///< empty: usual_formats of what is trained
  /// Tokens in one forward; none: 512 of an adapter, else as TrainerOptions has it.
  std::optional<std::int64_t> micro_tokens;
  std::string progress = "auto";
  int threads = 0;  ///< 0: all cores
};

/// The rows of the table.
Settings settings_of(TrainingSettings& settings);

/// Those of a JSON object. ConfigError, with the key.
TrainingSettings read_training_settings(const Json& json, const std::string& where);

/// The object that is read back to the same settings.
Json json_of(const TrainingSettings& settings);

/// The JSON schema of such an object.
OrderedJson training_schema();

/// Makes the spec whole; reads the config of `model` for dtype `auto`. ConfigError, which names a
/// setting in backquotes; ModelError.
TrainingSpec make_training_spec(const TrainingSettings& settings);

}  // namespace pardec
