#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/finetune/training_spec.hpp"
#include "src/settings/setting.hpp"

/// The settings of a training run as plain values. They come from JSON, from flags, or from a
/// program. make_training_spec converts them to a TrainingSpec.
namespace pardec {

/// The settings of `train`.
struct TrainingSettings {
  /// The settings that need no conversion. make_training_spec sets the other members: format,
  /// progress, trainer.workers and trainer.micro_tokens from the members below, and trainer.dtype
  /// and trainer.seed from spec.dtype and spec.seed.
  TrainingSpec spec;
  /// training formats, each as NAME or NAME:SHARE (see format_shares); empty: usual_formats
  std::vector<std::string> format;
  /// Tokens in a forward pass; none: 512 for an adapter, otherwise the default of TrainerOptions.
  std::optional<std::int64_t> micro_tokens;
  std::string progress = "auto";  ///< see parse_progress_style
  int threads = 0;  ///< CPU threads; 0: one for each core, or only one thread if a GPU computes
  double process_timeout = 600;  ///< in seconds; see Group::join
};

/// The table of settings for `train`. The rows point into `settings`, which must outlive them.
Settings settings_of(TrainingSettings& settings);

/// Reads the settings from a JSON object. `where`: the object's name for errors. ConfigError, which
/// names the key: a setting is invalid.
TrainingSettings read_training_settings(const Json& json, const std::string& where);

/// A JSON object from which read_training_settings gets the same settings.
Json json_of(const TrainingSettings& settings);

/// The JSON schema of these objects.
OrderedJson training_schema();

/// Converts the settings to a TrainingSpec. If dtype is `auto`, reads the config of the network.
/// ConfigError, which names the setting in backquotes: a setting is invalid. ModelError: the config
/// is invalid.
TrainingSpec make_training_spec(const TrainingSettings& settings);

}  // namespace pardec
