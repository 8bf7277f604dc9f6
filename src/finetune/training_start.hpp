#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/finetune/example_source.hpp"
#include "src/finetune/training_spec.hpp"
#include "src/model/files/config.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The starting point of training: a config.json for a new network, or a folder with weights.
struct TrainingStart {
  Json config;                                   ///< content of the config.json, completed
  ModelConfig parsed;                            ///< `config`, parsed
  std::filesystem::path tokenizer;               ///< the tokenizer.json
  std::optional<std::filesystem::path> weights;  ///< the checkpoint folder; none: a new network
};
/// Reads the starting point: spec.model and spec.tokenizer. For a new network, adds the
/// vocabulary's size and the end of sequence to the config if they are missing. For a folder, the
/// tokenizer is not read. ModelError: the model is a GGUF file; or the config, the weights or (for
/// a new network) the tokenizer is invalid. DataError: the config cannot be read or is not JSON.
/// ConfigError: the default tokenizer is not found (project_file).
TrainingStart read_start(const TrainingSpec& spec);

/// The training data.
struct TrainingData {
  /// One entry for each combination of wording and share `unannotated`. TrainingExamples::prompt is
  /// not loaded yet.
  std::vector<TrainingExamples> examples;
  /// The files that were read, as a JSON list of {dataset, split, file, sha256, examples}.
  /// `examples` is the number of examples in the split.
  OrderedJson files = OrderedJson::array();
  /// (dataset, counts); empty unless spec.own_answers is used.
  std::vector<std::pair<std::string, OwnAnswerCount>> own_answers;
};
/// Reads the data that `spec` names, and divides it into training and validation. ConfigError: a
/// dataset is unknown or cannot be used for training; spec.extra is given without a dataset of
/// attributes; or no example is left. DataError: a file is missing or invalid. If the references
/// are a run's answers, also the errors of answer_by_run.
TrainingData read_data(const TrainingSpec& spec);

}  // namespace pardec
