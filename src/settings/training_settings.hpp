#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/finetune/training_spec.hpp"
#include "src/settings/setting.hpp"

/// The settings of a training as plain values, from JSON, from flags, or from a program.
/// make_training_spec converts them to a specification.
namespace pardec {

struct TrainingSettings {
  /// Settings that are stored directly. The other members follow from the settings below and from
  /// `dtype` and `seed`: the formats, the progress style, and the type, seed, workers and
  /// micro_tokens of `trainer`.
  TrainingSpec spec;
  std::vector<std::string> format;  ///< empty: usual_formats for the trained parameters
  /// Tokens per forward pass; none: 512 for an adapter, otherwise the default of TrainerOptions.
  std::optional<std::int64_t> micro_tokens;
  std::string progress = "auto";
  int threads = 0;               ///< 0: all cores
  double process_timeout = 600;  ///< seconds, of Group::join
};

/// One row per setting of `train`; the rows point into `settings`, which must outlive them.
Settings settings_of(TrainingSettings& settings);

/// Reads the settings from a JSON object. ConfigError, with the key.
TrainingSettings read_training_settings(const Json& json, const std::string& where);

/// An object that can be read to get the same settings.
Json json_of(const TrainingSettings& settings);

/// The JSON schema of such objects.
OrderedJson training_schema();

/// Converts the settings to a specification. For dtype `auto`, reads the config of `model`.
/// ConfigError, naming a setting in backquotes. ModelError.
TrainingSpec make_training_spec(const TrainingSettings& settings);

}  // namespace pardec
